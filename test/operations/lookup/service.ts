import { answerJson, localServer, type LocalServer } from "../../service/local-server.js";

/** The payments of the tests' service, by their ids. */
export type Shown = Record<string, unknown> & { id: string };

/** A service that shows payments and stores every request. */
export interface ShowingService extends LocalServer {
  payments: Map<string, Shown>;
  /** The ids that were asked about, in order. */
  asked(): string[];
  /** Replaces the answer where it is set and returns one. */
  instead:
    | ((path: string) => { status: number; body: unknown; headers?: Record<string, string> } | undefined)
    | undefined;
}

/** A payment as a webhook would carry it (interface document, 2.3). */
export function shown(id: string, over: Record<string, unknown> = {}): Shown {
  return {
    id,
    status: "completed",
    captured: true,
    total: { value: "1475", currency: "KMF" },
    submittedAt: "2026-11-20T10:00:00.000Z",
    ...over,
  };
}

export async function showingService(): Promise<ShowingService> {
  const payments = new Map<string, Shown>();
  const server = await localServer((response, { path }) => {
    const other = service.instead?.(path);
    if (other) {
      for (const [name, value] of Object.entries(other.headers ?? {})) response.setHeader(name, value);
      return answerJson(response, other.status, other.body);
    }
    const url = new URL(path, "http://service");
    if (url.pathname === "/v1/payments") {
      const [limit, offset] = ["limit", "offset"].map((name) => Number(url.searchParams.get(name)));
      return answerJson(response, 200, { data: [...payments.values()].slice(offset, offset! + limit!) });
    }
    const payment = payments.get(decodeURIComponent(url.pathname.split("/").at(-1)!));
    if (payment) answerJson(response, 200, { data: payment });
    else answerJson(response, 404, { title: "Not found" });
  });
  const service: ShowingService = {
    ...server,
    payments,
    instead: undefined,
    asked: () => server.received.map(({ path }) => path.split("/").at(-1)!),
  };
  return service;
}
