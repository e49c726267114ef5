import { Gate } from "../clock/activity.js";
import { type SandboxCore } from "../core/core.js";
import { type WebhookStep } from "../scenario/scenario.js";
import { createRandom, type Random } from "../state/random.js";
import { isLoopback } from "../../shared/is-loopback.js";
import { type Delivery, isDelivered } from "../state/delivery.js";
import { postWebhook } from "./post-webhook.js";
import { type WebhookMessage } from "./message.js";

/** One webhook that the sender sends to one address until it is accepted. */
interface Job {
  id: string;
  url: string;
  message: WebhookMessage;
  /** The number of the next attempt. */
  attempt: number;
  /** The time of the next attempt, by the sandbox's clock. */
  dueAt: number;
  /** Whether the first attempt is lost. */
  loseFirst?: boolean | undefined;
}

/** Sends webhooks until they are accepted or the last retry has failed. */
export class WebhookSender {
  readonly deliveries: Delivery[] = [];
  readonly #random: Random;
  readonly #gate: Gate;
  readonly #closing = new AbortController();
  readonly #jobIds = new Set<string>();
  /** The message of each delivery, by the delivery's id. */
  readonly #messages = new Map<string, WebhookMessage>();

  constructor(private readonly core: SandboxCore) {
    this.#random = createRandom(core.options.seed, "deliveries");
    this.#gate = new Gate(core.activity);
  }

  /** Restores the deliveries of an earlier run of the sandbox, and continues its jobs. */
  async restore(): Promise<void> {
    const { stateFile } = this.core;
    const deliveries = await stateFile.load<Delivery & { message: WebhookMessage }>("delivery");
    for (const { message, ...saved } of deliveries) {
      const { responseBody: _, ...delivery } = saved;
      this.deliveries.push(this.#keepsBody() ? saved : delivery);
      this.#messages.set(delivery.id, message);
      this.#jobIds.add(delivery.id.split("-")[0]!);
    }
    const jobs = await stateFile.load<Job>("job");
    for (const { id } of jobs) this.#jobIds.add(id);
    for (const job of jobs) void this.#run(job);
  }

  /** Sends to every registered address. Resolves when each first attempt has ended. Never rejects. */
  send(message: WebhookMessage, { delayMs = 0, loseFirst }: WebhookStep = {}): Promise<Delivery[]> {
    const { addresses, clock, settings } = this.core;
    const dueAt = clock.now().getTime() + settings.current.webhookDelayMs + delayMs;
    const firstAttempts = addresses.list().map(({ url }) => {
      const job: Job = { id: this.#newJobId(), url, message, attempt: 1, dueAt, loseFirst };
      return new Promise<Delivery>((resolve) => void this.#run(job, resolve));
    });
    return Promise.all(firstAttempts);
  }

  /** Makes one attempt immediately, even while webhooks are held. There is no retry. Never rejects. */
  sendOnce(message: WebhookMessage, url: string, attempt = 1): Promise<Delivery> {
    const id = `${this.#newJobId()}-${attempt}`;
    return this.core.activity.run(() => this.#attempt(id, message, { url, attempt }));
  }

  /** Sends the bytes of a delivery to its address again. Resolves with `undefined` for an unknown id. */
  async sendAgain(deliveryId: string): Promise<Delivery | undefined> {
    const message = this.#messages.get(deliveryId);
    if (message === undefined) return undefined;
    const { url } = this.deliveries.find(({ id }) => id === deliveryId)!;
    const earlier = this.deliveries.filter(
      (delivery) => delivery.url === url && this.#messages.get(delivery.id)!.rawBody === message.rawBody,
    );
    return this.sendOnce(message, url, Math.max(...earlier.map(({ attempt }) => attempt)) + 1);
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

  /** Aborts the attempts that are in progress, and releases held webhooks. */
  close(): void {
    this.#closing.abort(new Error("the sandbox was closed"));
    this.#gate.release();
  }

  async #run(job: Job, onFirstAttempt: (delivery: Delivery) => void = () => {}): Promise<void> {
    const { activity, clock, stateFile, settings } = this.core;
    stateFile.put("job", job.id, job);
    activity.enter();
    for (;;) {
      await clock.wait(job.dueAt - clock.now().getTime());
      // A retry to an address that was unregistered is dropped without a delivery.
      if (job.attempt > 1 && !this.#isRegistered(job)) stateFile.remove("job", job.id);
      if (job.attempt > 1 && (this.#closing.signal.aborted || !this.#isRegistered(job))) break;
      await this.#gate.pass();
      const delivery = await this.#attemptJob(job);
      onFirstAttempt(delivery);
      // The job stays in the state file, so that the next run continues the job.
      if (this.#closing.signal.aborted) break;
      const retryInMs = settings.current.retryDelaysMs[job.attempt - 1];
      if (isDelivered(delivery) || retryInMs === undefined || !this.#isRegistered(job)) {
        stateFile.remove("job", job.id);
        break;
      }
      job.attempt += 1;
      job.dueAt = clock.now().getTime() + retryInMs;
      stateFile.put("job", job.id, job);
    }
    activity.leave();
  }

  #attemptJob(job: Job): Promise<Delivery> {
    const { id, message, url, attempt } = job;
    let unsent: string | undefined;
    if (!this.#isRegistered(job)) unsent = "the address was unregistered before it was sent";
    if (job.loseFirst === true && attempt === 1) unsent = "lost in transit, as the scenario says";
    return this.#attempt(`${id}-${attempt}`, message, { url, attempt, unsent });
  }

  /** Makes one attempt, or records `unsent` as the reason why nothing was sent. */
  async #attempt(
    id: string,
    message: WebhookMessage,
    { url, attempt, unsent }: Pick<Job, "url" | "attempt"> & { unsent?: string | undefined },
  ): Promise<Delivery> {
    const { clock, events, options, settings, stateFile } = this.core;
    const { headers, paymentId, scenario, byHand } = message;
    const rawBody = Buffer.from(message.rawBody, "base64");
    const at = clock.now().toISOString();
    const startedMs = performance.now();
    const { webhookTimeoutMs: timeoutMs } = settings.current;
    const closing = this.#closing.signal;
    const { allowRemoteWebhooks: allowRemote } = options;
    const keepsBody = this.#keepsBody();
    const outcome =
      unsent === undefined
        ? await postWebhook(url, { headers, rawBody }, { timeoutMs, closing, allowRemote, keepsBody })
        : { error: unsent };
    const delivery: Delivery = {
      id,
      ...(paymentId !== undefined && { paymentId }),
      url,
      attempt,
      requestBody: rawBody.toString("utf8"),
      headers,
      ...outcome,
      at,
      durationMs: Math.round(performance.now() - startedMs),
      ...(scenario !== undefined && { scenario }),
      ...(byHand && { byHand }),
    };
    this.#messages.set(delivery.id, message);
    this.deliveries.push(delivery);
    // After a close, the next run repeats the aborted attempt under the same id.
    if (!closing.aborted) stateFile.put("delivery", delivery.id, { ...delivery, message });
    events.emit({ type: "delivery", delivery });
    return delivery;
  }

  /** If the network can reach the sandbox, responses of this machine's services must stay hidden. */
  #keepsBody(): boolean {
    const { host } = this.core.options;
    return host === "localhost" || isLoopback(host);
  }

  #isRegistered({ url }: Job): boolean {
    return this.core.addresses.has(url);
  }

  #newJobId(): string {
    const id = this.#random.hex(8, (taken) => this.#jobIds.has(taken));
    this.#jobIds.add(id);
    return id;
  }
}
