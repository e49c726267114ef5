/** The sent webhooks and their answers, by payment and status: the sender's side of the comparison. */
export class SentWebhooks {
  #entries = new Map();
  requests = 0;
  acknowledged = 0;
  refused = 0;
  unanswered = 0;
  strange = [];

  /** Call it before the request: a webhook may arrive even if it gets no answer. */
  leaving({ payment, status }) {
    this.requests++;
    const key = `c-${payment} ${status}`;
    const entry = this.#entries.get(key) ?? {
      clientId: `c-${payment}`,
      status,
      sent: 0,
      acknowledged: 0,
      refused: 0,
      unanswered: 0,
    };
    entry.sent++;
    this.#entries.set(key, entry);
    return (answer) => {
      const what = answer === undefined ? "unanswered" : answer === 200 ? "acknowledged" : "refused";
      entry[what]++;
      this[what]++;
      if (what === "refused" && answer !== 503) this.strange.push(`${key} was answered ${answer}`);
    };
  }

  all() {
    return [...this.#entries.values()];
  }

  find(clientId, status) {
    return this.#entries.get(`${clientId} ${status}`);
  }
}
