import { randomUUID } from "node:crypto";
import { type Activity } from "./clock/activity.js";
import { type Clock } from "./clock/clock.js";
import { normal } from "./scenario/catalogue.js";
import { planWebhook, type PlanParts } from "./scenario/plan-webhook.js";
import { type ScenarioBook } from "./scenario/scenario-book.js";
import { type Moment, type Move } from "./scenario/scenario.js";
import { type Payments, type SandboxPayment } from "./state/payments.js";
import { type Keeper } from "./state/keeper.js";
import { type Settings } from "./state/settings.js";
import { type Delivery } from "./webhook/delivery.js";
import { type WebhookSender } from "./webhook/sender.js";

/** What moving payments needs of the sandbox. */
export interface MovingParts {
  payments: Payments;
  scenarios: ScenarioBook;
  settings: Settings;
  sender: WebhookSender;
  clock: Clock;
  activity: Activity;
  plan: PlanParts;
  keeper: Keeper;
}

/** Moves that a payment still has before it. */
interface Course {
  id: string;
  paymentId: string;
  moves: readonly Move[];
  /** When the first of them is due, by the sandbox's clock. */
  dueAt: number;
  source: string;
}

/** What becomes of payments, and the webhooks that tell of it. */
export class PaymentMoves {
  readonly #parts: MovingParts;
  /** Payments and moments whose moves are being made; a page opens for the first time once. */
  readonly #begun = new Set<string>();

  constructor(parts: MovingParts) {
    this.#parts = parts;
  }

  /** Does what the payment's scenario has for this moment; resolves with the first attempt of each webhook. */
  async at(moment: Moment, payment: SandboxPayment, source: string): Promise<Delivery[]> {
    const begun = `${payment.id} ${moment}`;
    // A button that is pressed twice is one decision.
    if (this.#begun.has(begun)) return [];
    this.#begun.add(begun);
    const moves = this.#scenarioOf(payment).moves?.[moment] ?? this.#usual(moment);
    const course = { id: randomUUID(), paymentId: payment.id, moves, dueAt: this.#dueAt(moves), source };
    const sent: Promise<Delivery[]>[] = [];
    await this.#parts.activity.run(() => this.#follow(course, sent));
    if (moment !== "opened") this.#begun.delete(begun);
    return (await Promise.all(sent)).flat();
  }

  /** Goes on with what payments of an earlier run still had before them. */
  async resume(): Promise<void> {
    const { keeper, activity } = this.#parts;
    for (const course of await keeper.load<Course>("course"))
      void activity.run(() => this.#follow(course, []));
  }

  async #follow(course: Course, sent: Promise<Delivery[]>[]): Promise<void> {
    const { clock, keeper, payments } = this.#parts;
    const { id, paymentId, source } = course;
    for (let [move, ...rest] = course.moves, { dueAt } = course; move !== undefined; [move, ...rest] = rest) {
      const waitMs = dueAt - clock.now().getTime();
      // What is due now is done before anybody who asked for it goes on.
      if (waitMs > 0) {
        keeper.put("course", id, { ...course, moves: [move, ...rest], dueAt });
        await clock.wait(waitMs);
        if (clock.closed) return;
        keeper.remove("course", id);
      }
      sent.push(...this.take(payments.byId(paymentId)!, move, source));
      dueAt = this.#dueAt(rest);
    }
  }

  #dueAt([next]: readonly Move[]): number {
    return this.#parts.clock.now().getTime() + (next?.delayMs ?? 0);
  }

  /** The payment takes a status at once, unless it is completed: nothing leaves that. */
  take(payment: SandboxPayment, move: Move, source: string): Promise<Delivery[]>[] {
    const { payments } = this.#parts;
    if (payments.byId(payment.id)!.status === "completed") return [];
    const moved = payments.move(payment, move.status, source);
    const sent = this.#tell(moved, move);
    if (move.status !== "completed") return sent;
    return [...sent, ...this.#paidWith(moved).flatMap((other) => this.take(other, move, source))];
  }

  #usual(moment: Moment): Move[] {
    if (moment === "canceled") return [{ status: "canceled" }];
    if (moment !== "approved") return [];
    return [...this.#parts.settings.current.statuses, "completed"].map((status) => ({ status }));
  }

  #tell(payment: SandboxPayment, { status, webhook = this.#isTold(status) }: Move): Promise<Delivery[]>[] {
    if (!webhook) return [];
    const { sender } = this.#parts;
    // One moment for all of them, so that what a step repeats is the very same bytes.
    const moment = this.#parts.plan.now();
    const plan: PlanParts = { ...this.#parts.plan, now: () => moment };
    const steps = (status === "completed" ? this.#scenarioOf(payment).webhooks : undefined) ?? [{}];
    return steps.flatMap((step) => {
      const message = planWebhook(payment, step, plan);
      return Array.from({ length: step.times ?? 1 }, () => sender.announce(message, step));
    });
  }

  #isTold(status: string): boolean {
    const { cancelWebhook, failureWebhook, statusWebhooks } = this.#parts.settings.current;
    if (status === "completed") return true;
    if (status === "canceled") return cancelWebhook;
    return status === "failed" ? failureWebhook : statusWebhooks;
  }

  /** The canceled ones of the same amount and shop that go through the scenario paidWithNext. */
  #paidWith({ id, total, successUrl }: SandboxPayment): SandboxPayment[] {
    return this.#parts.payments
      .list()
      .filter(
        (other) =>
          other.id !== id &&
          other.status === "canceled" &&
          other.total.value === total.value &&
          other.total.currency === total.currency &&
          new URL(other.successUrl).origin === new URL(successUrl).origin &&
          this.#scenarioOf(other).paidWithNext === true,
      );
  }

  #scenarioOf({ id }: SandboxPayment) {
    const { scenario } = this.#parts.payments.byId(id)!;
    // A file may hold the name of one that no sandbox knows any more.
    return this.#parts.scenarios.list().find(({ name }) => name === scenario) ?? normal;
  }
}
