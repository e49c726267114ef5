import { Writable } from "node:stream";
import { pino, type Logger } from "pino";

/** Returns a logger of this level, and the lines that it has written, parsed. */
export function collectedLog(level = "info"): { logger: Logger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const write = (line: Buffer, _: unknown, done: () => void): void => {
    lines.push(JSON.parse(line.toString()) as Record<string, unknown>);
    done();
  };
  return { logger: pino({ level }, new Writable({ write })), lines };
}
