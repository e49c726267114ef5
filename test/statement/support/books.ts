import { MemoryStore, type Payment, type PaymentStore, readStatement } from "tillkit";
import {
  type ReconcileOptions,
  reconcileStatement,
  type StatementFinding,
  type StatementSummary,
} from "tillkit";

/** The month that the tests are about. */
export const may = { from: "2024-05-01T00:00:00Z", to: "2024-06-01T00:00:00Z" };

/** A payment that was completed in the month, unless told otherwise. */
export function paid(clientId: string, over: Partial<Payment> = {}): Payment {
  return {
    clientId,
    reference: `order-${clientId}`,
    total: { value: "1475", currency: "KMF" },
    state: "completed",
    status: "completed",
    open: false,
    createdAt: "2024-05-10T10:00:00.000Z",
    updatedAt: "2024-05-10T10:05:00.000Z",
    completedAt: "2024-05-10T10:05:00.000Z",
    ...over,
  };
}

/** One that nobody paid yet. */
export function pending(clientId: string, over: Partial<Payment> = {}): Payment {
  const { completedAt: _, ...rest } = paid(clientId, { state: "pending", status: "pending", ...over });
  return rest;
}

/** A store that holds these payments. */
export async function booksOf(...payments: Payment[]): Promise<MemoryStore> {
  const store = new MemoryStore();
  await store.transaction((tx) => store.save(tx, { created: payments }));
  return store;
}

export interface Outcome {
  findings: StatementFinding[];
  summary: StatementSummary;
  /** `missing_here a1 line 3`, in their order. */
  told: string[];
}

/** Compares lines of a statement, under a header, with the books; the period is May unless told otherwise. */
export async function compared<Tx>(
  store: PaymentStore<Tx>,
  header: string,
  lines: readonly string[],
  options: ReconcileOptions = {},
): Promise<Outcome> {
  const rows = readStatement([header, ...lines].join("\n"));
  const run = reconcileStatement(store, rows, { period: may, ...options });
  const findings: StatementFinding[] = [];
  for await (const finding of run) findings.push(finding);
  return { findings, summary: await run.summary(), told: findings.map(wordsOf) };
}

function wordsOf({ kind, clientId, serviceId, line, problem }: StatementFinding): string {
  const about = problem?.code ?? clientId ?? serviceId;
  return `${kind} ${about}${line === undefined ? "" : ` line ${line}`}`;
}
