import { spawnSync } from "node:child_process";
import path from "node:path";

const script = path.join(__dirname, "../../scripts/planted-faults.mjs");
/** Without them, the faults of the two databases would be left out. */
const servers = { TILLKIT_TEST_POSTGRES_URL: "postgres://none", TILLKIT_TEST_MYSQL_URL: "mysql://none" };

it("the planted faults each fit the sources in one place, and name a test that exists", () => {
  const env = { ...process.env, ...servers };
  const { status, stderr } = spawnSync(process.execPath, [script, "--list"], { env, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});
