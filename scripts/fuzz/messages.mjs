/** Values that services and customers write, and some that look like other values. */
const samples = [
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

/** Returns message number `n` of a service, about the payment `c-n`. It is equal in every run. */
export function messageOf(n) {
  const status = statuses[n % statuses.length];
  const pick = (shift) => samples[(n * 7 + shift) % samples.length];
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

/** Returns a message as JSON fragments that can be moved: lists of `[key, value]`, where a value may be such a list. */
export function modelOf(message) {
  return Object.entries(message).map(([key, value]) => [
    JSON.stringify(key),
    typeof value === "object" && value !== null ? modelOf(value) : JSON.stringify(value),
  ]);
}

/** Returns the JSON of a model. `space` returns the text between two tokens. */
export function jsonOf(model, space = nothing) {
  if (typeof model === "string") return model;
  let text = "{";
  for (let index = 0; index < model.length; index++) {
    const [key, value] = model[index];
    if (index > 0) text += `,${space()}`;
    text += `${space()}${key}${space()}:${space()}${jsonOf(value, space)}${space()}`;
  }
  return `${text}}`;
}

const nothing = () => "";
