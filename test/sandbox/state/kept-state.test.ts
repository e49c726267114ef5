import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createSandbox } from "tillkit/sandbox";
import { sqliteStore } from "tillkit/sql";
import { WebhookAddresses } from "../../../src/sandbox/state/addresses.js";
import { SandboxPayments } from "../../../src/sandbox/state/payments.js";
import { createRandom } from "../../../src/sandbox/state/random.js";
import { StateFile } from "../../../src/sandbox/state/state-file.js";

const folder = mkdtempSync(path.join(tmpdir(), "tillkit-state-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("a state file writes everything before it is closed", async () => {
  const file = path.join(folder, "state.db");
  const first = new StateFile(file);
  first.put("token", "a", { id: "a" });
  await first.close();
  const second = new StateFile(file);
  expect(await second.load("token")).toEqual([{ id: "a" }]);
  await second.close();
});

it("a state file reports a write that failed, when it is flushed and when it is closed", async () => {
  const file = path.join(folder, "broken.db");
  const state = new StateFile(file);
  await state.load("token");
  const other = sqliteStore(file, { tablePrefix: "other_" });
  await other.transaction((tx) => tx.query("drop table sandbox_state"));
  await other.close();
  state.put("token", "a", { id: "a" });
  await expect(state.flushed()).rejects.toThrow("sandbox_state");
  await expect(state.close()).rejects.toThrow("sandbox_state");
});

const paymentsAt = (now: () => Date) =>
  new SandboxPayments({
    now,
    random: createRandom("seed", "payments"),
    stateFile: new StateFile(undefined),
    onChange: () => {},
  });
const order = {
  clientId: "c-1",
  total: { value: "1475", currency: "KMF" },
  cancelUrl: "http://localhost/cancel",
  successUrl: "http://localhost/success",
};

it("payments that are restored are there as they were, and are not reported as new", async () => {
  const changes: string[] = [];
  const paymentsIn = (stateFile: StateFile) =>
    new SandboxPayments({
      now: () => new Date(),
      random: createRandom("seed", "payments"),
      stateFile,
      onChange: (type) => void changes.push(type),
    });
  const first = new StateFile(path.join(folder, "payments.db"));
  const payments = paymentsIn(first);
  const moved = payments.move(payments.create(order, "normal"), "completed", "MVK");
  await first.close();
  const second = new StateFile(path.join(folder, "payments.db"));
  const restored = paymentsIn(second);
  await restored.restore();
  await second.close();
  expect(restored.list()).toEqual([moved]);
  expect(restored.find("c-1")).toEqual(moved);
  expect(changes).toEqual(["payment.created", "payment.moved"]);
});

it("a state file keeps the order in which things were added, also where one changes", async () => {
  const first = new StateFile(path.join(folder, "order.db"));
  for (const id of ["b", "c", "a"]) first.put("token", id, { id });
  first.put("token", "b", { id: "b", changed: true });
  await first.close();
  const second = new StateFile(path.join(folder, "order.db"));
  expect(await second.load("token")).toEqual([{ id: "b", changed: true }, { id: "c" }, { id: "a" }]);
  await second.close();
});

it("a payment whose scenario no longer exists is paid as usual", async () => {
  const state = path.join(folder, "scenario.db");
  const stateFile = new StateFile(state);
  const random = createRandom("seed", "payments");
  const payments = new SandboxPayments({ now: () => new Date(), random, stateFile, onChange: () => {} });
  payments.create(order, "gone");
  await stateFile.close();
  const sandbox = createSandbox({ state });
  await sandbox.start();
  await sandbox.pay("c-1");
  expect(sandbox.find("c-1")).toMatchObject({ status: "completed", scenario: "gone" });
  await sandbox.close();
});

it("an address is added once, with the time of the sandbox's clock, and no number is used twice", () => {
  const now = () => new Date("2030-01-01T00:00:00.000Z");
  const stateFile = new StateFile(undefined);
  const addresses = new WebhookAddresses({ allowRemote: false, now, stateFile });
  const [one, two] = [addresses.add("http://localhost/1"), addresses.add("http://localhost/2")];
  expect(one).toEqual({ id: "wh1", url: "http://localhost/1", addedAt: "2030-01-01T00:00:00.000Z" });
  expect(addresses.add("http://localhost/2")).toBe(two);
  addresses.remove("wh1");
  expect(addresses.add("http://localhost/1").id).toBe("wh3");
  expect(addresses.list().map(({ id }) => id)).toEqual(["wh2", "wh3"]);
});

it("a clientId that was used before names the newest payment, also after the older one has moved", () => {
  const payments = paymentsAt(() => new Date());
  const older = payments.create(order, "normal");
  const newer = payments.create(order, "normal");
  expect(payments.find("c-1")).toBe(newer);
  const moved = payments.move(older, "completed", "MVK");
  expect(payments.find("c-1")).toBe(newer);
  expect(payments.find(older.id)).toBe(moved);
});

it("a payment keeps the time of its first cancel", () => {
  let now = new Date("2026-05-01T10:00:00.000Z");
  const payments = paymentsAt(() => now);
  const { submittedAt } = payments.move(payments.create(order, "normal"), "canceled", "MVK");
  now = new Date("2026-05-01T10:05:00.000Z");
  expect(payments.move(payments.find("c-1")!, "canceled", "MVK")).toMatchObject({ submittedAt });
});

it("a payment keeps what its submission gave it when it is completed later", () => {
  let now = new Date("2026-05-01T10:00:00.000Z");
  const payments = paymentsAt(() => now);
  const created = payments.create(order, "normal");
  const { submittedAt, providerId, source } = payments.move(created, "submitted", "MVK");
  now = new Date("2026-05-01T10:05:00.000Z");
  const completed = payments.move(created, "completed", "HOL");
  expect(completed).toMatchObject({ submittedAt, providerId, source, completedAt: now.toISOString() });
  expect(submittedAt).toBe("2026-05-01T10:00:00.000Z");
});
