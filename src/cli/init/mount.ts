/** A file to write, or to change. */
export interface FileChange {
  /** The path of the file, relative to the folder of the application. */
  file: string;
  content: string;
  /** The present content of a file that is changed. */
  before?: string;
  added?: readonly string[];
}

/** The two lines that mount the router. `load` imports the router, and `mount` passes it to the app. */
export interface MountLines {
  load: string;
  mount: string;
}

const appLine = /^(?:const|let|var) (\w+)(?:: \w+)? = express\(\);?\s*$/;
const importLine = /^import\s.*from\s+["'][^"']+["'];?\s*$/;
/** A line that loads a module and does not continue on the next line, as `require("a")({` does. */
const requireLine =
  /^(?:const|let|var) .*\brequire\(["'][^"']+["']\)(?:\.\w+|\([^(){}[\]]*\))*;?\s*(?:\/\/.*)?$/;
/** A line that continues the statement of the line before. */
const continuation = /^\s*[.,?([`]/;

/** Returns the two lines that mount the router, with `import` or `require` as in the application's file. */
export function mountLines(text: string, module: string, app = "app"): MountLines {
  const imports = text.split("\n").some((line) => importLine.test(line));
  const load =
    imports || !/\brequire\(/.test(text)
      ? `import { router as paymentRoutes } from "${module}";`
      : `const { router: paymentRoutes } = require("${module}");`;
  return { load, mount: `${app}.use("/payments", paymentRoutes); // before express.json()` };
}

/**
 * Returns the change that mounts the router directly after `const app = express()`. Returns `undefined` if
 * the file has no such line or several such lines, if the statement continues on the next line, or if there
 * is no import before it.
 */
export function mountRouter(file: string, before: string, module: string): FileChange | undefined {
  const eol = before.includes("\r\n") ? "\r\n" : "\n";
  const lines = before.split(/\r?\n/);
  const apps = lines.flatMap((line, index) => (appLine.test(line) ? [index] : []));
  const at = apps[0];
  const continues = (index: number) => continuation.test(lines[index + 1] ?? "");
  if (at === undefined || apps.length > 1 || continues(at)) return undefined;
  const head = lines.slice(0, at);
  const isLoad = head.some((line) => importLine.test(line)) ? importLine : requireLine;
  const last = head.findLastIndex((line, index) => isLoad.test(line) && !continues(index));
  if (last < 0) return undefined;
  const { load, mount } = mountLines(before, module, appLine.exec(lines[at]!)![1]);
  const after = [
    ...lines.slice(0, last + 1),
    load,
    ...lines.slice(last + 1, at + 1),
    mount,
    ...lines.slice(at + 1),
  ];
  return { file, content: after.join(eol), before, added: [load, mount] };
}
