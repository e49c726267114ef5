import { randomFrom } from "../../crash/harness/random.mjs";
import { send } from "./http.mjs";

const amounts = [
  { value: "1475", currency: "KMF" },
  { value: "10.50", currency: "EUR" },
  // A double cannot hold the last digit.
  { value: "9007199254740993", currency: "KMF" },
];
/** Statuses that the interface document does not show. Some are names of members of every object. */
const unknownStatuses = ["constructor", "toString", "refunded", "on_hold"];
/** What becomes of a payment at the service, one status after the other. */
const fates = [
  ["completed"],
  ["completed"],
  ["completed"],
  ["submitted", "completed"],
  ["unknown", "completed"],
  ["failed"],
  ["canceled", "completed"],
  ["unknown"],
  ["failed", "unknown"],
  [],
];

/** Refunds of these amounts: three of them exceed what was paid. */
const refunds = { KMF: ["700", "9007199254740992"], EUR: ["4.25", "10.50"] };

/** Customers and the service's webhooks: what reaches the shop from outside. */
export class Traffic {
  /** Webhooks that were answered, in order. */
  answered = [];
  /** Raw bodies that nobody signed. */
  forged = [];
  /** Requests and calls without a result. */
  pending = new Set();
  #world;
  #shop;
  #service;
  #database;
  #nudges = 0;
  /** Choices of their own, so that runs without refunds are the same as they were before there were any. */
  #people;
  #hasRefunds;
  /** The numbers with which customers said that they have paid, and that the shop kept. */
  keptClaims = [];

  constructor(world, { shop, service, database }) {
    this.#world = world;
    this.#database = database;
    this.#shop = shop;
    this.#service = service;
    this.#people = randomFrom(world.seed ^ 0x4ef);
    this.#hasRefunds = this.#people.chance(0.2);
  }

  /** Plans the purchases of this run. */
  begin() {
    const { random } = this.#world;
    const orders = random.between(1, 3);
    for (let order = 1; order <= orders; order++) {
      const request = { reference: `order-${order}`, total: random.pick(amounts) };
      const times = random.pick([1, 1, 2, 3]);
      // Two clicks at one moment, or another attempt later.
      for (let time = 0; time < times; time++)
        this.#later(random.pick([1, 1, 3000, 9000]), () => this.#create(this.#changed(request)));
    }
    if (random.chance(0.2)) this.#later(1, () => this.#sendOther());
    if (this.#shop.setup.features.over && random.chance(0.3))
      for (const ms of [3000, 3000, 3001, 3001])
        for (const outer of [1, 2])
          this.#later(ms, () => this.#changeInside(`order-${outer}`, `order-${3 - outer}`));
    const strangers = random.pick([0, 0, 0, 1, 2, 4]);
    for (let count = 1; count <= strangers; count++)
      this.#later(random.pick([1, 1, 1500]), () => this.#addStranger(count));
  }

  /** The basket may have changed since the last attempt, so that another amount is asked for. */
  #changed({ reference, total }) {
    const { random } = this.#world;
    return { reference, total: random.chance(0.25) ? random.pick(amounts) : total };
  }

  /** A payment that other code created at the service. Its webhooks arrive before, while or after it is adopted. */
  #addStranger(count) {
    const { random } = this.#world;
    const payment = this.#service.add(`legacy-${count}`, random.pick(amounts));
    const { clientId, id, total } = payment;
    const reference = random.pick(["order-1", `legacy-order-${count}`]);
    const adoption = { clientId, reference, total, ...(random.chance(0.5) && { serviceId: id }) };
    const times = random.pick([0, 1, 1, 2, 3]);
    for (let time = 0; time < times; time++)
      this.#later(random.pick([1, 1, 2, 600, 2100, 7000]), () => this.#adopt(adoption));
  }

  /** A person records a refund: a part or all that is left, perhaps the same as another person at this moment. */
  #refund({ clientId, total }) {
    const target = this.#shop.running[this.#people.below(this.#shop.setup.processes)];
    if (!target) return;
    const { pick } = this.#people;
    const amount = pick([undefined, ...refunds[total.currency]]);
    const key = amount && pick([undefined, "one", "two", "three"]);
    const refund = { action: "refunded", clientId, amount, key, reason: "sent back", by: "Amina" };
    const call = this.expect(`refund of ${amount ?? "the rest"} of ${clientId}`, target.process);
    this.#world.start(
      target.process,
      call.what,
      () => void target.payments.resolve(refund).then(call.end, call.end),
    );
  }

  /** Customers of some payments say that they have paid. Their pages offer it two minutes after they came back. */
  claimSome({ withWebhooks }) {
    if (!this.#shop.setup.announces) return;
    for (const payment of this.#service.payments.values()) {
      const times = payment.tokens ? this.#people.below(4) : 0;
      for (let time = 0; time < times; time++)
        this.#later(this.#people.pick([0, 1, 500]), () => this.claim(payment.clientId));
      // The webhook may come at the same moment.
      if (withWebhooks && times > 0 && payment.status === "pending" && this.#people.chance(0.3))
        this.#later(this.#people.pick([0, 1, 500]), () => this.#change(payment, "completed", 1));
    }
  }

  /** The customer gives the number of the SMS, perhaps twice, or that of another customer, or another number. */
  claim(clientId, number = this.#people.pick(["SMS 1001", "sms-1001", "PP 72"])) {
    const target = this.#shop.running[this.#people.below(this.#shop.setup.processes)];
    const token = this.#service.payments.get(clientId)?.tokens?.success;
    if (!target || !token) return;
    const call = this.expect(`claim of ${clientId}`, target.process);
    const claim = async () => {
      const outcome = await target.payments.claimPaid({ kind: "success", token, number });
      if (outcome === "kept") this.keptClaims.push({ clientId, number });
    };
    this.#world.start(target.process, call.what, () => void claim().then(call.end, call.end));
  }

  #adopt(adoption) {
    const target = this.#shop.pick();
    if (!target) return;
    const call = this.expect(`adopt ${adoption.clientId}`, target.process);
    this.#world.start(
      target.process,
      call.what,
      () => void target.payments.adopt(adoption).then(call.end, call.end),
    );
  }

  /** Called by the service when it has made a payment. */
  onCreated = (payment) => {
    const { random } = this.#world;
    let ms = random.pick([0, 0, 1, 2000]);
    for (const fate of random.pick(fates)) {
      const status = fate === "unknown" ? random.pick(unknownStatuses) : fate;
      this.#later(ms, () => this.#change(payment, status));
      ms += random.pick([1, 1, 500, 6000]);
    }
    if (this.#hasRefunds)
      for (let count = this.#people.below(6); count > 0; count--)
        this.#later(this.#people.pick([6000, 6000, 9000, 15_000]), () => this.#refund(payment));
    if (random.chance(0.3)) this.#later(random.below(4000), () => this.#forge(payment));
    if (random.chance(0.3)) this.#later(random.below(8000), () => this.#tamper(payment));
    if (this.#shop.setup.announces)
      this.#later(this.#people.pick([1, 3000]), () => this.#comeBack(payment, "success"));
    for (const kind of ["success", "cancel"])
      if (random.chance(0.3)) this.#later(random.below(9000), () => this.#comeBack(payment, kind));
  };

  #create(request) {
    const target = this.#shop.pick();
    if (!target) return;
    const world = this.#world;
    const call = this.expect(`create ${request.reference}`, target.process);
    world.start(
      target.process,
      call.what,
      () => void target.payments.create(request).then(call.end, call.end),
    );
  }

  /**
   * Application code that changes a payment in a transaction, and creates or changes one of another order inside of it. A store over an
   * adapter runs it again after a conflict.
   */
  #changeInside(outer, inner) {
    const target = this.#shop.pick();
    if (!target) return;
    const { random } = this.#world;
    const { payments, process } = target;
    const call = this.expect(`change ${inner} in a transaction about ${outer}`, process);
    const change = (reference, inside = async () => {}) =>
      payments.store.transaction(async (tx) => {
        const locked = await payments.store.lock(tx, { references: [reference] });
        await inside();
        const updatedAt = new Date(this.#world.wall()).toISOString();
        const updated = locked.payments.slice(0, 1).map((payment) => ({ ...payment, updatedAt }));
        if (updated.length > 0) await payments.store.save(tx, { updated });
      });
    const isCreated = random.chance(0.3);
    const inside = () =>
      isCreated ? payments.create({ reference: inner, total: random.pick(amounts) }) : change(inner);
    this.#world.start(process, call.what, () => void change(outer, inside).then(call.end, call.end));
  }

  /** Reports the status of a payment now, once and until it is taken. */
  report(payment, status) {
    this.#change(payment, status, 1);
  }

  /** Sends each process a webhook about a payment that nobody knows. Returns their bodies. */
  nudge() {
    return this.#shop.running.filter(Boolean).map((target) => this.repeat(target, 1));
  }

  /** Sends a process one webhook about a payment that nobody knows so many times. Returns its body. */
  repeat(target, times) {
    const id = `pay_nudge_${(this.#nudges += 1)}`;
    const total = amounts[0];
    const message = this.#service.message({ id, clientId: id, status: "submitted", total });
    const rawBody = Buffer.from(JSON.stringify(message));
    const signature = this.#shop.scheme.sign(rawBody);
    for (let time = 0; time < times; time++) this.#send({ rawBody, signature, message, target });
    return rawBody;
  }

  #change(payment, status, times) {
    const { random } = this.#world;
    payment.status = status;
    payment.reported.push(status);
    if (status === "completed") payment.submittedAt ??= new Date(this.#world.wall()).toISOString();
    // Some webhooks never leave the service.
    const copies = times ?? random.pick([0, 1, 1, 1, 2, 2, 3]);
    const retries = () => (times ? 10 : random.below(4));
    const report = { ...payment, total: { ...payment.total } };
    const isRefused = times === undefined && this.#shop.setup.hasRefused && random.chance(0.3);
    const changed = isRefused ? { source: this.#database.refusedPart } : {};
    for (let copy = 0; copy < copies; copy++)
      this.#later(random.pick([0, 0, 0, 1, 1500, 7000]), () => this.#post(report, changed, retries()));
  }

  #post(report, changed, retries) {
    const message = this.#service.message(report, changed);
    const rawBody = Buffer.from(JSON.stringify(message));
    const signature = this.#shop.scheme.sign(rawBody);
    const again = () => this.#later(2000, () => this.#post(report, changed, retries - 1));
    this.#send({ rawBody, signature, message }, retries > 0 ? again : undefined);
  }

  /** Sends a webhook about something else than a payment. */
  #sendOther() {
    const message = {
      topic: "account.changed",
      timestamp: "2026-03-01T12:00:00Z",
      type: "account",
      data: {},
    };
    if (this.#shop.setup.scheme === "fields") return;
    const rawBody = Buffer.from(JSON.stringify(message));
    this.#send({ rawBody, signature: this.#shop.scheme.sign(rawBody), message });
  }

  /** Sends a completion that nobody signed, or with the signature of another body. */
  #forge(payment) {
    const { random } = this.#world;
    const message = this.#service.message(
      { ...payment, status: "completed" },
      { submittedAt: "2026-03-01T00:00:00Z" },
    );
    const rawBody = Buffer.from(JSON.stringify(message));
    this.forged.push(rawBody);
    const other = Buffer.from(JSON.stringify(this.#service.message(payment)));
    const signature = random.pick([undefined, "00".repeat(32), "zz", this.#shop.scheme.sign(other)]);
    this.#send({ rawBody, signature, message, isForged: true });
  }

  /** Sends a signed completion of another amount, which says nothing about this payment. */
  #tamper(payment) {
    const { value, currency } = payment.total;
    const other = value === "9007199254740993" ? "9007199254740992" : `1${value}`;
    const changed = {
      status: "completed",
      total: { value: other, currency },
      submittedAt: "2026-03-02T00:00:00Z",
    };
    this.#post({ ...payment }, changed, 1);
  }

  #send({ rawBody, signature, message, isForged = false, target = this.#shop.pick() }, retry) {
    if (!target) return retry?.();
    const headers = { "content-type": "application/json" };
    if (signature !== undefined) headers[this.#shop.scheme.header.toLowerCase()] = signature;
    const what = `webhook ${message.data.status} of ${message.data.clientId}`;
    const call = this.expect(what, target.process);
    const request = { method: "POST", url: "/webhook", headers, body: rawBody };
    this.#world.note(`sends ${isForged ? "forged " : ""}${what}`);
    send(this.#world, target.process, target.router, request, (status) => {
      call.end();
      this.#world.note(`answers ${status} to ${what}`);
      this.#onAnswer({ status, rawBody, message, isForged });
      // The service learns nothing of an answer that is lost on its way.
      if (status !== 200 || this.#world.random.chance(0.1))
        this.#world.as(this.#world.outside, () => retry?.());
    });
    call.onLost = retry;
  }

  #onAnswer(answer) {
    this.answered.push(answer);
    this.#world.monitor.onAnswer(answer);
  }

  #comeBack(payment, kind) {
    const target = this.#shop.pick();
    if (!target || !payment.tokens) return;
    const token = payment.tokens[kind];
    const isAsking = this.#world.random.chance(0.5);
    const url = `/${kind}/${token}${isAsking ? "/state" : ""}`;
    const call = this.expect(`return to ${kind}`, target.process);
    send(this.#world, target.process, target.router, { method: "GET", url }, (status, body) => {
      call.end();
      this.#world.note(`answers ${status} to the return to ${kind}${isAsking ? ": " + body : ""}`);
      this.#world.monitor.onPage(payment, status, body);
      if (this.#world.random.chance(0.5))
        this.#world.as(this.#world.outside, () => this.#later(2500, () => this.#comeBack(payment, kind)));
    });
  }

  /**
   * Notes that a process owes a result. `onLost` is called where the process ends before. Three outages can last 40 seconds in a
   * row, and a handler that is late may hold the order after them.
   */
  expect(what, process, withinMs = 90_000) {
    const call = { what, process, onLost: undefined, endsAt: this.#world.mono + withinMs };
    call.end = () => this.pending.delete(call);
    this.pending.add(call);
    return call;
  }

  /** Gives up the calls of dead processes, as their clients do. */
  giveUp() {
    for (const call of this.pending) {
      if (!call.process.isAlive) {
        this.pending.delete(call);
        this.#world.as(this.#world.outside, () => call.onLost?.());
      } else if (this.#world.mono > call.endsAt) {
        this.pending.delete(call);
        this.#world.violate("liveness", `no result in time: ${call.what}`);
      }
    }
  }

  #later(ms, run) {
    this.planned += 1;
    this.#world.as(this.#world.outside, () =>
      this.#world.setTimer(() => {
        this.planned -= 1;
        run();
      }, ms),
    );
  }

  planned = 0;
}
