import { type Activity } from "../clock/activity.js";
import { type Clock } from "../clock/clock.js";
import { Gate } from "../clock/gate.js";
import { type Addresses } from "../state/addresses.js";
import { type Keeper } from "../state/keeper.js";
import { type Randomness } from "../state/randomness.js";
import { type Settings } from "../state/settings.js";
import { type Delivery, isAccepted } from "./delivery.js";
import { type WebhookMessage } from "./message.js";
import { post } from "./post.js";

/** What sending needs of the sandbox. */
export interface SenderParts {
  settings: Settings;
  addresses: Addresses;
  clock: Clock;
  activity: Activity;
  randomness: Randomness;
  keeper: Keeper;
  onDelivery: (delivery: Delivery) => void;
}

/** How one webhook goes out, where that is not the usual. */
export interface Sending {
  delayMs?: number | undefined;
  /** The first attempt never arrives. */
  loseFirst?: boolean | undefined;
}

/** One webhook on its way to one address. */
interface Job {
  id: string;
  url: string;
  message: WebhookMessage;
  /** The next attempt, and when it is due by the sandbox's clock. */
  attempt: number;
  dueAt: number;
  loseFirst?: boolean | undefined;
}

/** As JSON has it. */
type KeptMessage = Omit<WebhookMessage, "rawBody"> & { rawBody: string };

/** Sends webhooks, again and again until they are answered 2xx or the schedule is used up. */
export class WebhookSender {
  readonly deliveries: Delivery[] = [];
  readonly #jobIds = new Set<string>();
  /** What each delivery sent: the exact bytes, which `requestBody` shows as text. */
  readonly #messages = new Map<string, WebhookMessage>();
  readonly #parts: SenderParts;
  readonly #gate: Gate;
  readonly #closing = new AbortController();

  constructor(parts: SenderParts) {
    this.#parts = parts;
    this.#gate = new Gate(parts.activity);
  }

  /** Takes over the deliveries of an earlier run of the same sandbox, and goes on with what was on its way. */
  async resume(): Promise<void> {
    const { keeper } = this.#parts;
    for (const { message, ...delivery } of await keeper.load<Delivery & { message: KeptMessage }>(
      "delivery",
    )) {
      this.deliveries.push(delivery);
      this.#messages.set(delivery.id, restored(message));
      this.#jobIds.add(delivery.id.split("-")[0]!);
    }
    const jobs = await keeper.load<Job & { message: KeptMessage }>("job");
    for (const { id } of jobs) this.#jobIds.add(id);
    for (const job of jobs) void this.#sendUntilAccepted({ ...job, message: restored(job.message) });
  }

  /** Sends to every registered address; resolves when each first attempt has ended. Never rejects. */
  announce(message: WebhookMessage, sending: Sending = {}): Promise<Delivery[]> {
    const { addresses, clock, settings } = this.#parts;
    const { delayMs = 0, loseFirst } = sending;
    const dueAt = clock.now().getTime() + settings.current.webhookDelayMs + delayMs;
    const firstAttempts = addresses.list().map(({ url }) => {
      const job: Job = { id: this.#newJobId(), url, message, attempt: 1, dueAt, loseFirst };
      return new Promise<Delivery>((resolve) => void this.#sendUntilAccepted(job, resolve));
    });
    return Promise.all(firstAttempts);
  }

  /** One attempt at once, whatever is held; no retry. Never rejects. */
  sendOnce(message: WebhookMessage, url: string, attempt = 1): Promise<Delivery> {
    const id = `${this.#newJobId()}-${attempt}`;
    return this.#parts.activity.run(() => this.#attempt(id, message, { url, attempt }));
  }

  /** The same bytes to the same address, as the attempt after the last; `undefined` for an unknown delivery. */
  async repeat(deliveryId: string): Promise<Delivery | undefined> {
    const message = this.#messages.get(deliveryId);
    if (message === undefined) return undefined;
    const { url } = this.deliveries.find(({ id }) => id === deliveryId)!;
    const same = this.deliveries.filter(
      (delivery) => delivery.url === url && this.#messages.get(delivery.id)!.rawBody.equals(message.rawBody),
    );
    return this.sendOnce(message, url, Math.max(...same.map(({ attempt }) => attempt)) + 1);
  }

  hold(): void {
    if (!this.#closing.signal.aborted) this.#gate.hold();
  }

  release(): void {
    this.#gate.release();
  }

  get held(): boolean {
    return this.#gate.held;
  }

  /** Ends the attempts that are under way, and lets nobody wait any longer. */
  close(): void {
    this.#closing.abort(new Error("the sandbox was closed"));
    this.#gate.release();
  }

  async #sendUntilAccepted(job: Job, onFirstAttempt: (delivery: Delivery) => void = () => {}): Promise<void> {
    const { activity, clock, keeper, settings } = this.#parts;
    this.#keep(job);
    activity.enter();
    for (;;) {
      await clock.wait(job.dueAt - clock.now().getTime());
      // Whoever unregistered the address meanwhile wants no further attempt, nor a line about it.
      if (job.attempt > 1 && !this.#isRegistered(job)) keeper.remove("job", job.id);
      if (job.attempt > 1 && (this.#closing.signal.aborted || !this.#isRegistered(job))) break;
      await this.#gate.passed();
      const delivery = await this.#attemptOf(job);
      onFirstAttempt(delivery);
      // What a closing cut short goes on at the next start, where the state is kept.
      if (this.#closing.signal.aborted) break;
      const retryInMs = settings.current.retryDelaysMs[job.attempt - 1];
      if (isAccepted(delivery) || retryInMs === undefined || !this.#isRegistered(job)) {
        keeper.remove("job", job.id);
        break;
      }
      job.attempt += 1;
      job.dueAt = clock.now().getTime() + retryInMs;
      this.#keep(job);
    }
    activity.leave();
  }

  #attemptOf(job: Job): Promise<Delivery> {
    const { id, message, url, attempt } = job;
    const isLost = job.loseFirst === true && attempt === 1;
    const unsent = isLost
      ? "lost on the way, as the scenario has it"
      : this.#isRegistered(job)
        ? undefined
        : "the address was unregistered before it was sent";
    return this.#attempt(`${id}-${attempt}`, message, { url, attempt, unsent });
  }

  /** The id is known beforehand: which of several answers comes first is chance. */
  async #attempt(
    id: string,
    message: WebhookMessage,
    { url, attempt, unsent }: { url: string; attempt: number; unsent?: string | undefined },
  ): Promise<Delivery> {
    const { clock, keeper, onDelivery } = this.#parts;
    const at = clock.now().toISOString();
    const startedMs = performance.now();
    const outcome = unsent === undefined ? await this.#send(message, url) : { error: unsent };
    const { paymentId, scenario } = message;
    const delivery: Delivery = {
      id,
      ...(paymentId !== undefined && { paymentId }),
      url,
      attempt,
      requestBody: message.rawBody.toString("utf8"),
      headers: message.headers,
      ...outcome,
      at,
      durationMs: Math.round(performance.now() - startedMs),
      ...(scenario !== undefined && { scenario }),
    };
    this.#messages.set(delivery.id, message);
    this.deliveries.push(delivery);
    // An attempt that a closing cut short is made again at the next start, under the same id.
    if (!this.#closing.signal.aborted)
      keeper.put("delivery", delivery.id, { ...delivery, message: storable(message) });
    onDelivery(delivery);
    return delivery;
  }

  async #send(message: WebhookMessage, url: string) {
    const { webhookTimeoutMs } = this.#parts.settings.current;
    const timeout = AbortSignal.timeout(webhookTimeoutMs);
    const signal = AbortSignal.any([timeout, this.#closing.signal]);
    try {
      const { status, headers, body } = await post(url, message.headers, message.rawBody, signal);
      return { status, responseHeaders: headers, responseBody: body };
    } catch (error) {
      if (this.#closing.signal.aborted) return { error: "the sandbox was closed" };
      if (timeout.aborted) return { error: `no answer within ${webhookTimeoutMs} ms` };
      return { error: reason(error) };
    }
  }

  #isRegistered({ url }: Job): boolean {
    return this.#parts.addresses.has(url);
  }

  #newJobId(): string {
    const id = this.#parts.randomness.hex(8, (taken) => this.#jobIds.has(taken));
    this.#jobIds.add(id);
    return id;
  }

  #keep(job: Job): void {
    this.#parts.keeper.put("job", job.id, { ...job, message: storable(job.message) });
  }
}

function storable(message: WebhookMessage): KeptMessage {
  return { ...message, rawBody: message.rawBody.toString("base64") };
}

function restored(message: KeptMessage): WebhookMessage {
  return { ...message, rawBody: Buffer.from(message.rawBody, "base64") };
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Where a name has several addresses, Node's error has an empty message and a code.
  return error.message || ("code" in error ? String(error.code) : error.name);
}
