import { type Import } from "./read-imports.js";

/** The parts of the kit, in the order in which one may build on the other. */
export type Part =
  | "errors"
  | "payment"
  | "html"
  | "limits"
  | "signature"
  | "event"
  | "reconciliation"
  | "service"
  | "store"
  | "store/sql"
  | "spool"
  | "recording"
  | "dispatch"
  | "statement"
  | "lookup"
  | "stories"
  | "kit"
  | "http"
  | "index"
  | "sandbox"
  | "testing"
  | "cli";

const topLevel: Record<string, Part> = {
  "payment.ts": "payment",
  "html.ts": "html",
  "timer-limit.ts": "limits",
  "deadlines.ts": "limits",
  // The stories: what the kit does, each in a file, and what only they use.
  "create-payment.ts": "stories",
  "payment-request.ts": "stories",
  "adopt-payment.ts": "stories",
  "receive-webhook.ts": "stories",
  "handle-return.ts": "stories",
  "return-token.ts": "stories",
  "sweep-payments.ts": "stories",
  "raise-waiting.ts": "stories",
  "resolve-payment.ts": "stories",
  "replay-webhooks.ts": "stories",
  "replay-dispatches.ts": "stories",
  "list-payments.ts": "stories",
  "payment-history.ts": "stories",
  "store-method.ts": "stories",
  "new-id.ts": "stories",
  "prune-records.ts": "stories",
  "health.ts": "stories",
  // Where the parts are put together and configured.
  "payments.ts": "kit",
  "payments-interface.ts": "kit",
  "startup.ts": "kit",
  "options.ts": "kit",
  "lookup-options.ts": "kit",
  "option-problems.ts": "kit",
  "options-from-environment.ts": "kit",
  "index.ts": "index",
};

const folders: readonly Part[] = [
  "store/sql",
  "store",
  "errors",
  "signature",
  "event",
  "reconciliation",
  "service",
  "spool",
  "recording",
  "dispatch",
  "statement",
  "lookup",
  "http",
  "sandbox",
  "testing",
  "cli",
];

/** The part that a file belongs to; `undefined` for one that this table does not know yet. */
export function partOf(file: string): Part | undefined {
  return topLevel[file] ?? folders.find((folder) => file.startsWith(`${folder}/`));
}

const pure: readonly Part[] = ["signature", "event", "reconciliation"];
const stages: readonly Part[] = [
  ...pure,
  "service",
  "store",
  "spool",
  "recording",
  "dispatch",
  "lookup",
  "statement",
];

interface Allowed {
  /** Parts whose code may be used. */
  uses: readonly Part[];
  /** Parts of which only types may be named, besides. */
  names?: readonly Part[];
}

/**
 * What each part may build on. Whatever is not listed is forbidden: a new direction is added here, on purpose, or not at
 * all. Types weigh less than code, because naming the shape of a thing does not load it.
 */
const allowed: Record<Part, Allowed | "public faces"> = {
  errors: { uses: [] },
  payment: { uses: [] },
  html: { uses: [] },
  limits: { uses: [] },
  // The strict decoding is event's: a scheme over fields must read the fields exactly as they are parsed afterwards.
  signature: { uses: ["errors", "event"] },
  // Which fields there are, and which a signature covers, is signature's.
  event: { uses: ["errors", "signature", "reconciliation"], names: ["payment"] },
  reconciliation: { uses: ["errors"], names: ["payment", "event"] },
  service: { uses: ["errors", "limits", "reconciliation"], names: ["payment"] },
  // A kept webhook says what its signature covered.
  store: { uses: ["errors"], names: ["payment", "signature", "event"] },
  "store/sql": { uses: ["errors", "store"], names: ["payment", "signature", "event"] },
  // Keeps bytes, and knows nothing of what they mean.
  spool: { uses: ["errors"] },
  recording: { uses: ["errors", "limits", "event", "reconciliation", "spool"], names: ["payment", "store"] },
  dispatch: { uses: ["errors", "limits", "event"], names: ["signature", "store"] },
  // Reads the books and writes nothing to them; its report is a page.
  statement: { uses: ["errors", "html", "event", "reconciliation"], names: ["payment", "store"] },
  // Its answers are recorded as webhooks are.
  lookup: {
    uses: ["errors", "event", "service"],
    names: ["payment", "recording", "store"],
  },
  stories: { uses: ["errors", ...stages], names: ["payment"] },
  kit: { uses: ["errors", "limits", ...stages, "store/sql", "stories"], names: ["payment"] },
  // The edge speaks to the kit alone; of what lies below, it knows the shapes.
  http: { uses: ["errors", "html", "limits", "kit"], names: ["payment", "stories", ...stages, "store/sql"] },
  index: { uses: ["errors", ...stages, "kit", "http"], names: ["payment", "stories"] },
  sandbox: "public faces",
  testing: "public faces",
  cli: "public faces",
};

/** The modules that outsiders see: subpaths of the package, and what `index.ts` exports as a whole. */
const publicFaces = [
  "index.ts",
  "errors/index.ts",
  "signature/index.ts",
  "event/index.ts",
  "statement/index.ts",
  "store/index.ts",
  "store/sql/index.ts",
  "sandbox/index.ts",
  "testing/index.ts",
];

/** Contracts that are public, and have nothing in them but types. */
const publicContracts = ["payment.ts", "store/payment-store.ts"];

/** Whether DESIGN §9 lets this file import that one. */
export function isAllowed({ file, target, kind }: Import): boolean {
  const from = partOf(file);
  const to = partOf(target);
  if (from === undefined || to === undefined) return false;
  if (from === to) return true;
  const rule = allowed[from];
  if (rule === "public faces") {
    // The escaping of pages is nobody's opinion: two copies of it would be worse than one shared.
    if (from !== "testing" && target === "html.ts") return true;
    return publicFaces.includes(target) || (kind === "type" && publicContracts.includes(target));
  }
  return rule.uses.includes(to) || (kind === "type" && (rule.names ?? []).includes(to));
}

/** Whether this part may import this package or module of Node. */
export function mayUse({ file, target, kind }: Import): boolean {
  const part = partOf(file);
  if (target === "express") return part === "http" || part === "sandbox";
  if (target === "pino-http") return part === "http";
  if (target === "body-parser") return part === "sandbox";
  // Drivers are the merchant's own: nothing of them may be needed to load, or to compile against, the kit.
  if (/^(pg|mysql2|@photostructure\/sqlite|node:sqlite)(\/|$)/.test(target)) {
    return part === "store/sql" && kind === "dynamic";
  }
  if (part !== undefined && pure.includes(part)) {
    return ["node:crypto", "node:buffer", "node:util", "zod"].includes(target);
  }
  // The exam runs under any test runner, and outside of all; pauses are for leases that must run out.
  if (part === "testing") return /^node:(assert(\/strict)?|timers\/promises|crypto)$/.test(target);
  return true;
}
