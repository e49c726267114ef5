import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const root = path.resolve(__dirname, "../..");
const packages = path.join(root, "examples/frameworks/node_modules");

function missing(): string | undefined {
  if (process.env["TILLKIT_TEST_TARGET"] !== "packed") return "TILLKIT_TEST_TARGET is not packed";
  return existsSync(packages) ? undefined : "Vitest is not installed: npm ci --prefix examples/frameworks";
}

/** A test that pays, and whose assertion fails before it closes anything. */
const body = `
  const { payments, pay, settled } = await testPayments();
  let paid = "";
  payments.onPaymentCompleted(({ payment }) => void (paid = payment.reference));
  await pay({ reference: "order-1", total: { value: "1475", currency: "KMF" } });
  await settled();
  assert.equal(paid, "order-2");
`;

/** The runner, the name of its file, the test as it is written for it, and its command. */
const runners: [name: string, file: string, code: string, command: string[]][] = [
  [
    "node --test",
    "shop.test.mjs",
    `import assert from "node:assert/strict";
import { test } from "node:test";
import { testPayments } from "tillkit/testing";
test("is paid", async () => {${body}});`,
    ["--test", "shop.test.mjs"],
  ],
  [
    "Jest",
    "shop.test.js",
    `const assert = require("node:assert/strict");
const { testPayments } = require("tillkit/testing");
test("is paid", async () => {${body}});`,
    [path.join(root, "node_modules/jest/bin/jest.js"), "--rootDir", ".", "--testTimeout", "40000"],
  ],
  [
    "Vitest",
    "shop.test.mjs",
    `import assert from "node:assert/strict";
import { test } from "vitest";
import { testPayments } from "tillkit/testing";
test("is paid", async () => {${body}});`,
    [path.join(packages, "vitest/vitest.mjs"), "run", "--root", ".", "--testTimeout", "40000"],
  ],
];

const reason = missing();
if (reason !== undefined) {
  it(`leaves the test runners out, because ${reason}`, () => {
    expect(missing()).toBe(reason);
  });
} else {
  describe.each(runners)("under %s", (_name, file, code, command) => {
    let folder: string;
    beforeAll(() => {
      folder = mkdtempSync(path.join(tmpdir(), "tillkit-runner-"));
      mkdirSync(path.join(folder, "node_modules"));
      symlinkSync(path.join(root, ".tmp/package"), path.join(folder, "node_modules/tillkit"));
      symlinkSync(path.join(packages, "vitest"), path.join(folder, "node_modules/vitest"));
      writeFileSync(path.join(folder, "package.json"), "{}");
      writeFileSync(path.join(folder, file), code);
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    it.each(["test", "production"])(
      "a failed assertion fails, and ends although nothing was closed, with NODE_ENV=%s",
      (NODE_ENV) => {
        const env = { PATH: process.env["PATH"], HOME: folder, NODE_ENV };
        const options = { cwd: folder, encoding: "utf8", env, timeout: 50_000 } as const;
        const { status, signal, stdout, stderr } = spawnSync(process.execPath, command, options);
        expect({ status, signal }).toEqual({ status: 1, signal: null });
        expect(stdout + stderr).toContain("order-2");
        expect(stdout + stderr).not.toContain("did not exit");
      },
    );
  });
}
