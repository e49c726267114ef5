import { setTimeout as delay } from "node:timers/promises";
import { type Health, type Payments, type SignedField } from "tillkit";
import { type SqlTx } from "tillkit/sql";
import { type Sent } from "./load.js";

/** One answer of `payments.health()`. The times are those of `performance.now()`. */
interface Answer {
  from: number;
  to: number;
  status: Health["status"];
}

/** The answers of a kit's health, compared with what became of its webhooks. */
export interface ComparedHealth {
  answers: number;
  /** The number of answers `down`. */
  down: number;
  /** The number of answers other than `down`, while every webhook that was sent meanwhile was refused. */
  fineWhileRefusing: number;
  /** The number of answers `down`, while every webhook that was sent meanwhile was kept. */
  downWhileKeeping: number;
}

const everyMs = 50;

/** Asks a kit for its health all the time. */
export function watchHealth(payments: Payments<SignedField, SqlTx>) {
  const answers: Answer[] = [];
  const stopping = new AbortController();
  const asking = (async () => {
    while (!stopping.signal.aborted) {
      const from = performance.now();
      const { status } = await payments.health();
      answers.push({ from, to: performance.now(), status });
      await delay(everyMs);
    }
  })();
  return {
    /** Returns when the health was `ok` for the first time after `from`, and said nothing else since then. */
    okAfter(from: number): number | undefined {
      const later = answers.filter((answer) => answer.from > from);
      return later.slice(later.findLastIndex(({ status }) => status !== "ok") + 1)[0]?.to;
    },
    async stop(): Promise<void> {
      stopping.abort();
      await asking;
    },
    compare(sent: readonly Sent[]): ComparedHealth {
      const statusesDuring = ({ from, to }: Answer) =>
        sent
          .filter((one) => one.from >= from && one.from <= Math.max(to, from + everyMs))
          .map(({ status }) => status === 200);
      const count = (fits: (answer: Answer) => boolean) => answers.filter(fits).length;
      return {
        answers: answers.length,
        down: count(({ status }) => status === "down"),
        fineWhileRefusing: count((answer) => {
          const kept = statusesDuring(answer);
          return answer.status !== "down" && kept.length > 0 && !kept.includes(true);
        }),
        downWhileKeeping: count((answer) => {
          const kept = statusesDuring(answer);
          return answer.status === "down" && kept.length > 0 && !kept.includes(false);
        }),
      };
    },
  };
}
