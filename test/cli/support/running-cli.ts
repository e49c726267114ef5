import { once } from "node:events";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { PassThrough, Readable } from "node:stream";
import { run } from "../../../src/cli/run.js";

/** A command that runs until it is stopped. */
export interface RunningCli {
  /** Resolves to the next line of standard output that fits, parsed as JSON. */
  next<Line>(fits: (line: Line) => boolean): Promise<Line>;
  /** Returns what it wrote to standard error until now. */
  stderr(): string;
  /** Stops it as Ctrl-C does, and resolves to the exit code. */
  stop(): Promise<number>;
}

/** Starts a command with `--json` in this process. */
export function startCli(argv: readonly string[], env: Record<string, string> = {}): RunningCli {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  let said = "";
  stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const stopping = new AbortController();
  const stdin = Readable.from([]);
  const context = { stdin, stdout, stderr, env, cwd: tmpdir(), signal: stopping.signal };
  const running = run([...argv, "--json"], context);
  const seen: unknown[] = [];
  const reader = createInterface({ input: stdout });
  reader.on("line", (line) => void seen.push(JSON.parse(line)));
  return {
    async next<Line>(fits: (line: Line) => boolean) {
      for (;;) {
        const index = (seen as Line[]).findIndex(fits);
        if (index >= 0) return seen.splice(0, index + 1).at(-1) as Line;
        await once(reader, "line");
      }
    },
    stderr: () => said,
    async stop() {
      stopping.abort();
      const code = await running;
      stdout.end();
      return code;
    },
  };
}
