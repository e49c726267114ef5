/** Texts as services and customers write them, and some that only look like others. */
const texts = [
  "MVK-778",
  "64f0c0ffee",
  "a b",
  "é",
  "e\u0301",
  "Ω",
  "\u212a",
  "😀",
  "\ufffd",
  "x".repeat(60),
  "0",
  "null",
  "p1",
];
const statuses = ["completed", "completed", "completed", "pending", "failed", "captured", "reversed"];
const totals = [
  { value: "1475", currency: "KMF" },
  { value: "10.50", currency: "EUR" },
  { value: "0.1", currency: "KWD" },
  { value: "9999999999999999", currency: "XAF" },
];

/** The message number `n` of a service, always the same; its payment is `c-n`. */
export function messageOf(n) {
  const status = statuses[n % statuses.length];
  const pick = (shift) => texts[(n * 7 + shift) % texts.length];
  const submitted = status !== "pending" || n % 2 === 0;
  return {
    topic: `payment.${status}`,
    timestamp: "2026-11-20T10:00:05.000Z",
    type: "payment",
    data: {
      id: `${pick(0)}.${n}`,
      status,
      captured: status === "completed" || status === "captured",
      total: totals[n % totals.length],
      ...(submitted && { submittedAt: "2026-11-20T10:00:00.000Z" }),
      clientId: `c-${n}`,
      providerId: pick(3),
      source: "MVK",
    },
  };
}

/** A message as JSON fragments that can be moved about: lists of `[key, value]`, where a value may be such a list. */
export function modelOf(message) {
  return Object.entries(message).map(([key, value]) => [
    JSON.stringify(key),
    typeof value === "object" && value !== null ? modelOf(value) : JSON.stringify(value),
  ]);
}

/** The text of a model; `space` gives what stands between two tokens. */
export function textOf(model, space = nothing) {
  if (typeof model === "string") return model;
  let text = "{";
  for (let index = 0; index < model.length; index++) {
    const [key, value] = model[index];
    if (index > 0) text += `,${space()}`;
    text += `${space()}${key}${space()}:${space()}${textOf(value, space)}${space()}`;
  }
  return `${text}}`;
}

const nothing = () => "";
