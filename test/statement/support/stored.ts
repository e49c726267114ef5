import { MemoryStore, type Payment, type PaymentStore } from "tillkit";
import {
  readStatement,
  type StatementOptions,
  compareStatement,
  type StatementFinding,
  type StatementFormat,
  type StatementSummary,
} from "tillkit/statement";

/** The period of the tests. */
export const may = { from: "2024-05-01T00:00:00Z", to: "2024-06-01T00:00:00Z" };

/** Returns a payment that was completed in May, unless `over` changes that. */
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

/** Returns a pending payment. */
export function pending(clientId: string, over: Partial<Payment> = {}): Payment {
  const { completedAt: _, ...rest } = paid(clientId, { state: "pending", status: "pending", ...over });
  return rest;
}

/** Makes a store with these payments. */
export async function storeOf(...payments: Payment[]): Promise<MemoryStore> {
  const store = new MemoryStore();
  await store.transaction((tx) => store.save(tx, { created: payments }));
  return store;
}

export interface Outcome {
  findings: StatementFinding[];
  summary: StatementSummary;
  /** The findings in their order, such as `missing_here a1 line 3`. */
  found: string[];
}

/** Compares a header and lines of a statement with stored payments. The default period is May. */
export async function compared<Tx>(
  store: PaymentStore<Tx>,
  header: string,
  lines: readonly string[],
  options: StatementOptions = {},
  format: StatementFormat = {},
): Promise<Outcome> {
  const rows = readStatement([header, ...lines].join("\n"), format);
  const run = compareStatement(store, rows, { period: may, ...options });
  const findings: StatementFinding[] = [];
  for await (const finding of run) findings.push(finding);
  return { findings, summary: await run.summary(), found: findings.map(shortText) };
}

function shortText({ kind, clientId, serviceId, line, problem }: StatementFinding): string {
  const about = problem?.code ?? clientId ?? serviceId;
  return `${kind} ${about}${line === undefined ? "" : ` line ${line}`}`;
}
