/**
 * A webhook that means nothing to anybody: of a type and topic that do not exist, about no payment, with an amount that
 * is none. To the kit it is `unrecognised`, or `inadmissible` where only fields are signed. Always the same, so that a
 * second run is a duplicate of the first.
 */
const meaningless = {
  topic: "tillkit.doctor",
  timestamp: "2026-01-01T00:00:00.000Z",
  type: "probe",
  data: {
    id: "tillkit-doctor-probe",
    status: "probe",
    captured: false,
    total: { value: "probe", currency: "probe" },
    submittedAt: "2026-01-01T00:00:00.000Z",
    clientId: "tillkit-doctor-probe",
    providerId: "probe",
    source: "probe",
  },
};

export const probeBodies = {
  /** As JSON.stringify writes it: what was parsed and written again is the same. */
  compact: JSON.stringify(meaningless),
  /** The same JSON with spaces and line breaks, which a body that was parsed and written again loses. */
  spaced: `${JSON.stringify(meaningless, null, 2)}\r\n`,
  /** Longer than any webhook of the interface document, and far from the kit's limit. */
  long: JSON.stringify({ ...meaningless, note: "x".repeat(16 * 1024) }),
  malformed: '{"topic": ',
} as const;
