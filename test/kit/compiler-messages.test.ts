import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { codeBlocks, read, root } from "../docs/documents.js";

const head = `
import { createPayments, fieldsSignature, hmacSignature, paymentRouter } from "tillkit";
import { mysqlStore, postgresStore, sqliteStore } from "tillkit/sql";
const signature = hmacSignature({ secret: "x" });
const parts = { publicUrl: "", service: { baseUrl: "", accessToken: "" }, signature };
`;

/** The ways to make a kit to which the documented handler is given. */
const forms = `
import { fulfilOrder } from "./fulfil-order.js";
paymentRouter().payments.onPaymentCompleted(fulfilOrder);
paymentRouter({ onPaymentCompleted: fulfilOrder });
paymentRouter({ store: postgresStore("postgres://h/shop"), onPaymentCompleted: fulfilOrder });
paymentRouter({ ...parts, store: sqliteStore("shop.db"), onPaymentCompleted: fulfilOrder });
const payments = createPayments({ ...parts, store: mysqlStore("mysql://h/shop") });
payments.onPaymentCompleted(fulfilOrder);
payments.on("payment.completed", fulfilOrder, { name: "fulfil" });
const fields = fieldsSignature({ secret: "x", merchantId: "m-1" });
createPayments({ ...parts, signature: fields, store: sqliteStore("shop.db") }).onPaymentCompleted(fulfilOrder);
`;

const mistakes = {
  event: 'createPayments({ ...parts, store: sqliteStore("shop.db") }).on("payment.complete", () => {});',
  store: "createPayments({ ...parts, store: new Map() });",
  "store-of-router": "paymentRouter({ store: new Map() });",
};

let folder: string;
let lines: string[];

beforeAll(() => {
  mkdirSync(path.join(root, ".tmp"), { recursive: true });
  folder = mkdtempSync(path.join(root, ".tmp/compiler-"));
  const write = (file: string, text: string) => writeFileSync(path.join(folder, file), text);
  write("tsconfig.json", JSON.stringify({ extends: "../../tsconfig.json", include: ["."] }));
  const documented = codeBlocks(read("docs/handlers.md")).find((block) =>
    block.startsWith("// fulfil-order.ts"),
  );
  write("fulfil-order.ts", documented!);
  write("forms.ts", head + forms);
  for (const [name, mistake] of Object.entries(mistakes)) write(`${name}.ts`, head + mistake);
  const { stdout } = spawnSync(process.execPath, ["scripts/tsc.mjs", "-p", folder, "--pretty", "false"], {
    cwd: root,
    encoding: "utf8",
  });
  lines = stdout.split("\n");
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the first lines of the compiler's message about a file, without the names of the files. */
function messageOf(file: string): string {
  const at = lines.findIndex((line) => line.includes(`/${file}.ts(`));
  return at < 0
    ? ""
    : lines
        .slice(at, at + 3)
        .join("\n")
        .slice(lines[at]!.indexOf("error"));
}

it("the documented handler file compiles with every form of the kit", () => {
  expect([messageOf("fulfil-order"), messageOf("forms")]).toEqual(["", ""]);
});

it("a misspelt event is answered with the names of the events, in the first line", () => {
  const [first] = messageOf("event").split("\n");
  expect(first).toMatch(
    /'"payment\.complete"' is not assignable to .*"payment\.completed".*"payment\.overdue"/,
  );
});

it("a wrong store is answered with the name of storeOver, in the first line", () => {
  const [first] = messageOf("store").split("\n");
  expect(first).toMatch(/'Map<any, any>' is missing .* from type 'SqlStoreOrStoreOver<unknown>'/);
});

it("a wrong store of a router is answered so too, below the line about its overloads", () => {
  const [overloads, , third] = messageOf("store-of-router").split("\n");
  expect(overloads).toContain("No overload matches this call");
  expect(third).toContain("SqlStoreOrStoreOver");
});
