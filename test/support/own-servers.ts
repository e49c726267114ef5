import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { accessSync, chownSync, constants, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

/** A program that a test has started. */
export interface OwnServer {
  readonly child: ChildProcess;
  /** The last lines that it wrote. */
  output(): string;
  /** Sends the signal and waits for the end, for ten seconds at most. Then the program is killed. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const postgresFolder = "/usr/lib/postgresql";
const running = new Set<OwnServer>();
const folders = new Set<string>();

/**
 * Defines tests that start servers of their own with these programs. Where a program is not there, a test says that they are left
 * out.
 */
export function onOwnServers(about: string, programs: readonly string[], define: () => void): void {
  const missing = missingOf(programs);
  if (missing === undefined) define();
  else it(`leaves ${about} out, because ${missing}`, () => expect(missingOf(programs)).toBe(missing));
}

function missingOf(programs: readonly string[]): string | undefined {
  if (process.env["TILLKIT_TEST_POSTGRES_URL"] === "none") return "TILLKIT_TEST_POSTGRES_URL is none";
  const missing = ["setpriv", ...programs].find((program) => findProgram(program) === undefined);
  if (missing !== undefined) return `the program ${missing} is not there`;
  if (isRoot && postgresUser() === undefined) return "the servers refuse root, and there is no user postgres";
  return undefined;
}

/** Returns the path of a program: of the newest PostgreSQL of Debian, or on the path of the process. */
export function findProgram(name: string): string | undefined {
  const versions = listed(postgresFolder).toSorted((a, b) => Number(b) - Number(a));
  return [
    ...versions.map((version) => path.join(postgresFolder, version, "bin")),
    ...(process.env["PATH"] ?? "").split(path.delimiter),
    "/usr/sbin",
  ]
    .map((folder) => path.join(folder, name))
    .find(isExecutable);
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const isRoot = process.getuid?.() === 0;

/** PostgreSQL, PgBouncer and Patroni refuse to run as root. */
function postgresUser(): { uid: number; gid: number } | undefined {
  try {
    const idOf = (flag: string) =>
      Number(execFileSync("id", [flag, "postgres"], { stdio: ["ignore", "pipe", "ignore"] }));
    return { uid: idOf("-u"), gid: idOf("-g") };
  } catch {
    return undefined;
  }
}

const user = () => (isRoot ? postgresUser() : undefined);

/** Makes a folder that belongs to the user of the servers. {@link stopOwnServers} removes it. */
export function ownFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "tillkit-own-"));
  const owner = user();
  if (owner) chownSync(folder, owner.uid, owner.gid);
  folders.add(folder);
  return folder;
}

/** Runs a program to its end. Rejects with its output where it fails. */
export async function runProgram(name: string, args: readonly string[]): Promise<string> {
  const program = startProgram(name, args);
  const [code] = (await once(program.child, "close")) as [number | null];
  running.delete(program);
  if (code !== 0) throw new Error(`${name} failed (${code}): ${program.output()}`);
  return program.output();
}

/** Starts a program as the user of the servers. {@link stopOwnServers} ends it. */
export function startProgram(name: string, args: readonly string[]): OwnServer {
  const { uid, gid } = user() ?? {};
  const as = uid === undefined ? [] : [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"];
  // Also ended where jest is killed.
  const command = ["--pdeathsig=TERM", ...as, findProgram(name)!, ...args];
  const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C.UTF-8" };
  const child = spawn("setpriv", command, { cwd: "/", env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text: Buffer) => (output = `${output}${text.toString()}`.slice(-4000)));
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  const server: OwnServer = {
    child,
    output: () => output,
    async stop(signal = "SIGINT") {
      if (!isOver()) {
        const exit = once(child, "exit");
        child.kill(signal);
        const late = setTimeout(() => child.kill("SIGKILL"), 10_000);
        await exit;
        clearTimeout(late);
      }
      running.delete(server);
    },
  };
  running.add(server);
  child.once("exit", () => running.delete(server));
  return server;
}

/** Ends all programs, the newest first, and removes their folders. Call it in `afterEach`. */
export async function stopOwnServers(): Promise<void> {
  for (const server of [...running].toReversed()) await server.stop("SIGINT");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  folders.clear();
}

/** The first and the number of the ports that `freePort` returns. The system gives higher ones to connections and to port 0. */
const [firstPort, portCount] = [10_000, 20_000];
let portsGiven = 0;

/**
 * Resolves with a port of this machine that is free now. It stays free until a program listens on it: no connection gets it by itself, and
 * other workers begin at other ports.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = firstPort + ((process.pid * 101 + portsGiven++) % portCount);
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
