import { CallWatch } from "./call-watch.js";
import { because } from "../../shared/because.js";
import { type Adapter, adapterOf } from "../over/adapter/operations.js";
import { type PaymentStore } from "../contract.js";
import { type Checks, type StoreProbe } from "./checks/steps.js";
import { promises, without } from "./contract.js";

/** The functions that make and remove the stores of one check. */
export interface StoreFactory<Tx> extends StoreTools<Tx> {
  /** Makes a store over a new, empty database. May also return tools for it. Called once per check. */
  create: () => Promise<PaymentStore<Tx> | ({ store: PaymentStore<Tx> } & StoreTools<Tx>)>;
}

/** Further tools of the exam for the database of a store. */
export interface StoreTools<Tx> {
  /**
   * Makes a second store over the data of the first, as another process would have it. Without it, one store
   * has both roles, which proves less.
   */
  reopen?: ((store: PaymentStore<Tx>) => Promise<PaymentStore<Tx>>) | undefined;
  /** Removes the database. Called after each check, when its stores are closed. */
  remove?: ((store: PaymentStore<Tx>) => Promise<void>) | undefined;
  /** The application's own writes. Without them, it is unknown whether they commit with `tx`. */
  probe?: StoreProbe<Tx> | undefined;
}

/**
 * The subject of a check:
 * - a member of the contract
 * - `adapter`: the operations below `storeOver`
 * - `probe`: the application's own writes
 * - `refused`, `cut`: the member of the probe with this name
 */
export type ExamMember = keyof PaymentStore | "adapter" | ProbePart;

/** The subjects that the exam examines only with a probe. */
export type ProbePart = "probe" | "refused" | "cut";

/** The result of one check. */
export interface CheckResult {
  /** The sentence that must hold. */
  check: string;
  /** The subject of the check. */
  member: ExamMember;
  /** The result of the check. */
  outcome: "passed" | "failed" | "left out";
  /** The problem in one sentence, or what stays unknown because the check was left out. */
  reason?: string;
  /** The line of the contract. Only for a failed check. */
  contract?: string;
  /** The last calls before the failure, with their results. Only for a failed check. */
  calls?: readonly string[];
  /** The value that the check threw. */
  error?: unknown;
}

export const maxCalls = 15;
const ofAdapters = { read: 1, scan: 1, write: 1 };
const takeTx: readonly string[] = ["lock", "save", "settle", "rematchable", "stray"];

/** Runs one check on new stores. Never rejects. */
export async function runCheck<Tx>(
  [check, run, group]: readonly [string, Checks[string], ExamMember],
  { create, ...others }: StoreFactory<Tx>,
  watch = new CallWatch(),
): Promise<CheckResult> {
  const { calls } = watch;
  let absent: keyof typeof without | undefined;
  // Many sentences begin with the name of their member.
  const named = check.split(" ", 1)[0]!;
  let member = group;
  try {
    const made = await watch.during("create", create);
    const { store, reopen, remove, probe } = { ...others, ...("store" in made ? made : { store: made }) };
    if (named in store) member = named as keyof PaymentStore;
    let another = store;
    const examine = async (): Promise<void> => {
      if (reopen) another = await watch.during("reopen", () => reopen(store));
      const isAdapter = group === "adapter";
      const [subject, other] = [store, another].map((one) => (isAdapter ? adapterIn(one) : one));
      if (!subject || !other || lacks(probe, group)) {
        absent = group as "probe";
        return;
      }
      const first = watched(subject, isAdapter ? "adapter" : "store", watch);
      const second = subject === other ? first : watched(other, "another", watch);
      await run(first as never, second as never, probe as StoreProbe);
    };
    await inTurn([
      examine,
      ending(watch, "close", async () => (another === store ? undefined : another.close())),
      ending(watch, "close", async () => store.close()),
      ending(watch, "remove, which is called after close,", async () => remove?.(store)),
    ]);
    if (absent === undefined) return { check, member, outcome: "passed" };
    return { check, member: absent, outcome: "left out", reason: without[absent] };
  } catch (error) {
    const contract = promises[member as keyof PaymentStore] ?? `${check}.`;
    const reason = reasonOf(error);
    return {
      check,
      member,
      outcome: "failed",
      reason,
      contract,
      calls: merged(calls).slice(-maxCalls),
      error,
    };
  }
}

/**
 * Returns a step that ends a check. The error of the step has the name of the step, because the step is not a
 * call of the check.
 */
function ending(watch: CallWatch, step: string, run: () => Promise<void>): () => Promise<void> {
  return () =>
    watch.during(step, run).catch((cause: unknown) => {
      throw new Error(`${step} rejected${because(cause)}`, { cause });
    });
}

function lacks(probe: StoreProbe<never> | undefined, group: ExamMember): boolean {
  return (group === "probe" && !probe) || ((group === "refused" || group === "cut") && !probe?.[group]);
}

/** Returns the adapter below a store of {@link storeOver}. */
function adapterIn(store: object): Adapter | undefined {
  return (store as { [adapterOf]?: Adapter })[adapterOf];
}

/** Runs all steps, even after one rejects. Rejects with the first error. */
async function inTurn(steps: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: { error: unknown }[] = [];
  for (const step of steps) await step().catch((error: unknown) => failures.push({ error }));
  if (failures[0]) throw failures[0].error;
}

/** Returns a store that notes each call with its result. */
function watched<T extends object>(store: T, name: string, watch: CallWatch): T {
  const isTx = (value: unknown, index: number, member: string): boolean =>
    index === 0 ? takeTx.includes(member) : member in ofAdapters && !Array.isArray(value);
  return new Proxy(store, {
    get(target, member) {
      const value: unknown = Reflect.get(target, member);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        const shown = args
          .filter((each) => each !== undefined)
          .map((each, index) => (isTx(each, index, String(member)) ? "tx" : short(each)));
        const note = watch.begin(`${name}.${String(member)}(${shown.join(", ")})`);
        const result: unknown = Reflect.apply(value, target, args);
        if (result instanceof Object && "then" in result)
          (result as Promise<unknown>).then(
            (resolved) => note(short(resolved)),
            (error: unknown) => note(`rejects: ${reasonOf(error)}`),
          );
        else note();
        return result;
      };
    },
  });
}

/** Returns the calls with their results, without repetitions: checks that wait repeat a call often. */
function merged(calls: readonly string[]): string[] {
  const counts: [call: string, count: number][] = [];
  for (const call of calls)
    if (counts.at(-1)?.[0] === call) counts.at(-1)![1] += 1;
    else counts.push([call, 1]);
  return counts.map(([call, count]) => (count > 1 ? `${call} (${count} times)` : call));
}

/** Returns the thrown value as one sentence. An assertion's message shows both values on many lines. */
function reasonOf(thrown: unknown): string {
  const { generatedMessage, expected, actual, message, code, operator } = Object(thrown) as Record<
    string,
    unknown
  >;
  if (generatedMessage === true) return compared(expected, actual);
  const what = message ?? thrown;
  const said = (typeof what === "string" ? what : short(what)).split("\n", 1)[0]!;
  if (operator === "deepStrictEqual") return `${said} ${compared(expected, actual)}`;
  return typeof code === "string" && !code.startsWith("ERR_ASSERTION") ? `${code}: ${said}` : said;
}

/** Returns both values as one sentence. Long values are cut to the part where they begin to differ. */
function compared(expected: unknown, actual: unknown): string {
  const [wanted, got] = [asJson(expected), asJson(actual)];
  let at = 0;
  while (at < wanted.length && wanted[at] === got[at]) at += 1;
  const from = Math.max(wanted.length, got.length) > maxShown ? Math.max(0, at - 40) : 0;
  const [one, other] = [wanted, got].map((json) => `${from > 0 ? "…" : ""}${cut(json.slice(from))}`);
  return `Expected ${one}, and got ${other}.`;
}

const maxShown = 120;

function short(value: unknown): string {
  return typeof value === "function" ? "…" : cut(asJson(value));
}

function cut(text: string): string {
  return text.length > maxShown ? `${text.slice(0, maxShown - 1)}…` : text;
}

/** Returns a value as JSON, or only its kind: drivers' results may have cycles, which JSON cannot contain. */
function asJson(value: unknown): string {
  const shown = (_: string, inner: unknown): unknown => {
    if (typeof inner === "bigint") return `${inner}n`;
    const bytes = inner as { type?: unknown; data?: unknown[] } | null;
    return bytes?.type === "Buffer" ? `${bytes.data?.length} bytes` : inner;
  };
  try {
    return JSON.stringify(value, shown) ?? String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
