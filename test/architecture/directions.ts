import { type Import } from "./read-imports.js";

/** The top-level folders of `src/`, and `index.ts`. */
const levels: readonly (readonly string[])[] = [
  // The lowest: no file here imports from a folder further down this list.
  ["errors"],
  ["shared"],
  ["model"],
  ["pages"],
  ["service", "store"],
  ["checkout", "webhook", "dispatch"],
  ["operations"],
  ["statement"],
  ["kit"],
  ["http"],
  ["index.ts"],
  ["sandbox"],
  ["testing"],
  ["cli"],
];

/** Everything that stands at the top of `src/`. */
export const parts: readonly string[] = levels.flat();

/** The top-level folder of a file; `undefined` for a folder that this table does not know. */
export function partOf(file: string): string | undefined {
  const part = file.split("/", 1)[0]!;
  return parts.includes(part) ? part : undefined;
}

/** Folders with few imports: what they may import beside their own files and `errors`. */
const narrow: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  shared: [],
  model: [],
  pages: ["shared", "model"],
};

/**
 * Folders that use the kit as an application does: what the package exports, what pages share, the rules of amounts, and the
 * reader of webhooks.
 */
const outsiders = ["sandbox", "testing", "cli"];

/** The modules that applications see: subpaths of the package, and what `index.ts` exports as a whole. */
const publicModules = [
  "index.ts",
  "errors/index.ts",
  "service/index.ts",
  "sandbox/index.ts",
  "statement/index.ts",
  "store/index.ts",
  "store/sql/index.ts",
  "store/exam/index.ts",
  "webhook/signature/index.ts",
];

/** Modules that such folders share with the kit, although no application sees them. */
const sharedModules = [
  "model/money.ts",
  "model/status-order.ts",
  "store/sql/open-store.ts",
  "webhook/message/read-message.ts",
];

/** Public modules that hold nothing but types. */
const publicTypes = ["model/payment.ts", "store/contract.ts"];

/** Returns whether this file may import that one. There is no list of exceptions. */
export function isAllowed({ file, target, kind }: Import): boolean {
  const [from, to] = [partOf(file), partOf(target)];
  if (from === undefined || to === undefined) return false;
  if (from === to) return isAllowedWithin(file, target);
  if (rank(to) >= rank(from)) return false;
  if (narrow[from]) return to === "errors" || narrow[from].includes(to);
  if (outsiders.includes(from)) {
    const isShared = to === "pages" || to === "shared" || sharedModules.includes(target);
    return isShared || publicModules.includes(target) || (kind === "type" && publicTypes.includes(target));
  }
  return true;
}

function rank(part: string): number {
  return levels.findIndex((level) => level.includes(part));
}

/** The folders of `webhook/` in the order of its steps: none imports from one behind it. */
const webhookSteps = ["message", "signature", "reconciliation", "spool", "recording"];

/** Rules between the folders of one part. */
function isAllowedWithin(file: string, target: string): boolean {
  const [from, to] = [file, target].map((name) => webhookSteps.indexOf(name.split("/")[1]!));
  const isInWebhook = file.startsWith("webhook/") && target.startsWith("webhook/");
  if (isInWebhook && from! >= 0 && (to! > from! || to! < 0)) return false;
  // The exam uses a store as an application's store is used: through its contract, whose sentences it shares with the kit. It calls an
  // adapter as a store does.
  if (file.startsWith("store/exam/")) {
    const contract = [
      "store/index.ts",
      "store/optional-members.ts",
      "store/over/adapter/operations.ts",
      ...publicTypes,
    ];
    return target.startsWith("store/exam/") || contract.includes(target);
  }
  return true;
}

/** Folders that do no I/O. */
const pure = ["model/", "webhook/message/", "webhook/signature/", "webhook/reconciliation/"];

/** Returns whether this file may import this package or module of Node. */
export function mayUse({ file, target, kind }: Import): boolean {
  const part = partOf(file);
  if (target === "express")
    return part === "http" || part === "sandbox" || (part === "testing" && kind === "dynamic");
  if (target === "pino-http") return part === "http";
  if (target === "body-parser") return part === "sandbox";
  // Drivers are the merchant's own: nothing of them may be needed to load, or to compile against, the kit.
  if (/^(pg|mysql2|@photostructure\/sqlite|node:sqlite)(\/|$)/.test(target)) {
    return file.startsWith("store/sql/") && kind === "dynamic";
  }
  if (pure.some((folder) => file.startsWith(folder))) {
    return ["node:crypto", "node:buffer", "node:util", "zod"].includes(target);
  }
  // The exam runs under any test runner and outside of all; pauses are for leases that must expire.
  if (file.startsWith("store/exam/"))
    return /^node:(assert(\/strict)?|timers\/promises|crypto)$/.test(target);
  return true;
}
