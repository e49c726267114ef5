import { randomUUID } from "node:crypto";
import { type SandboxCore } from "../core/core.js";
import { normal } from "../scenario/catalogue.js";
import { type Moment, type Move, type Scenario } from "../scenario/scenario.js";
import { type SandboxPayment } from "../state/payments.js";
import { type Delivery } from "../state/delivery.js";
import { type WebhookMessages } from "../webhook/message.js";
import { type WebhookSender } from "../webhook/sender.js";

/** The moves that a payment has not made yet. */
interface Schedule {
  id: string;
  moment: Moment;
  paymentId: string;
  moves: readonly Move[];
  /** The time of the first move, by the sandbox's clock. */
  dueAt: number;
  /** The code of the provider. */
  source: string;
}

/** Moves payments from status to status as their scenarios say, and sends webhooks about the moves. */
export class PaymentTransitions {
  /**
   * The moments in progress of each payment. `opened` is never removed, because only the first opening has an
   * effect.
   */
  readonly #started = new Set<string>();

  constructor(
    private readonly core: SandboxCore,
    private readonly messages: WebhookMessages,
    private readonly sender: WebhookSender,
  ) {}

  /**
   * Makes the moves of the payment's scenario for this moment. Resolves with the first attempt of each
   * webhook. Does nothing while the same moment is in progress, or at a second `opened`.
   */
  async run(moment: Moment, payment: SandboxPayment, source: string): Promise<Delivery[]> {
    const about = { moment, paymentId: payment.id };
    if (this.#started.has(momentKey(about))) return [];
    const moves = this.#scenarioOf(payment).moves?.[moment] ?? this.#normalMoves(moment);
    const sent: Promise<Delivery[]>[] = [];
    await this.#start({ id: randomUUID(), ...about, moves, dueAt: this.#dueAt(moves), source }, sent);
    return (await Promise.all(sent)).flat();
  }

  /**
   * Makes the `replaced` moves of the shop's other payments whose amount differs from the newest payment's.
   */
  async runReplaced(newest: SandboxPayment, source: string): Promise<void> {
    const replaced = this.#othersOfShop(newest).filter((other) => !hasSameTotal(other, newest));
    await Promise.all(replaced.map((other) => this.run("replaced", other, source)));
  }

  /** Continues the schedules of an earlier run of the sandbox. */
  async restore(): Promise<void> {
    for (const schedule of await this.core.stateFile.load<Schedule>("schedule"))
      void this.#start(schedule, []);
  }

  /**
   * Gives the payment a status, unless the payment is completed. A completion also completes the payments
   * with `paidWithNext`. Returns the first attempts of the webhooks.
   */
  apply(payment: SandboxPayment, move: Move, source: string): Promise<Delivery[]>[] {
    const { payments } = this.core;
    if (payments.byId(payment.id)!.status === "completed") return [];
    const moved = payments.move(payment, move.status, source);
    const sent = this.#sendWebhooks(moved, move);
    if (move.status !== "completed") return sent;
    return [...sent, ...this.#paidWith(moved).flatMap((other) => this.apply(other, move, source))];
  }

  /** Makes the moves of a schedule. While they go on, the same moment cannot start again. */
  async #start(schedule: Schedule, sent: Promise<Delivery[]>[]): Promise<void> {
    this.#started.add(momentKey(schedule));
    await this.core.activity.run(() => this.#follow(schedule, sent));
    if (schedule.moment !== "opened") this.#started.delete(momentKey(schedule));
  }

  async #follow(schedule: Schedule, sent: Promise<Delivery[]>[]): Promise<void> {
    const { clock, stateFile, payments } = this.core;
    const { id, paymentId, source } = schedule;
    let { dueAt } = schedule;
    for (let [move, ...rest] = schedule.moves; move !== undefined; [move, ...rest] = rest) {
      const waitMs = dueAt - clock.now().getTime();
      // Due moves run without a pause, so that the caller sees their effect when run() returns its promise.
      if (waitMs > 0) {
        stateFile.put("schedule", id, { ...schedule, moves: [move, ...rest], dueAt });
        await clock.wait(waitMs);
        if (clock.closed) return;
        stateFile.remove("schedule", id);
      }
      sent.push(...this.apply(payments.byId(paymentId)!, move, source));
      dueAt = this.#dueAt(rest);
    }
  }

  #dueAt([next]: readonly Move[]): number {
    return this.core.clock.now().getTime() + (next?.delayMs ?? 0);
  }

  #normalMoves(moment: Moment): Move[] {
    if (moment === "canceled") return [{ status: "canceled" }];
    if (moment !== "approved") return [];
    return [...this.core.settings.current.statuses, "completed"].map((status) => ({ status }));
  }

  #sendWebhooks(payment: SandboxPayment, { status, webhook }: Move): Promise<Delivery[]>[] {
    if (!(webhook ?? this.#isReported(status))) return [];
    // All steps share one time, so that a repeated step has the same bytes.
    const now = this.core.clock.now();
    const steps = (status === "completed" ? this.#scenarioOf(payment).webhooks : undefined) ?? [{}];
    return steps.flatMap((step) => {
      const message = this.messages.fromStep(payment, step, now);
      return Array.from({ length: step.times ?? 1 }, () => this.sender.send(message, step));
    });
  }

  #isReported(status: string): boolean {
    const { cancelWebhook, failureWebhook, statusWebhooks } = this.core.settings.current;
    if (status === "completed") return true;
    if (status === "canceled") return cancelWebhook;
    return status === "failed" ? failureWebhook : statusWebhooks;
  }

  /** Returns the canceled payments of the same amount and shop whose scenario has `paidWithNext`. */
  #paidWith(payment: SandboxPayment): SandboxPayment[] {
    return this.#othersOfShop(payment).filter(
      (other) =>
        other.status === "canceled" &&
        hasSameTotal(other, payment) &&
        this.#scenarioOf(other).paidWithNext === true,
    );
  }

  #othersOfShop({ id, successUrl }: SandboxPayment): SandboxPayment[] {
    const { origin } = new URL(successUrl);
    return this.core.payments
      .list()
      .filter((other) => other.id !== id && new URL(other.successUrl).origin === origin);
  }

  #scenarioOf({ id }: SandboxPayment): Scenario {
    const { scenario } = this.core.payments.byId(id)!;
    // A state file may contain the name of a scenario that no longer exists.
    return this.core.scenarios.list().find(({ name }) => name === scenario) ?? normal;
  }
}

function momentKey({ paymentId, moment }: Pick<Schedule, "paymentId" | "moment">): string {
  return `${paymentId} ${moment}`;
}

function hasSameTotal({ total }: SandboxPayment, other: SandboxPayment): boolean {
  return total.value === other.total.value && total.currency === other.total.currency;
}
