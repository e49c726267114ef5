import { realFileSystem, SpoolDirectory } from "../../../src/webhook/spool/spool-directory.js";
import { StoreTie } from "../../../src/webhook/spool/store-tie.js";
import { spoolBench } from "./fixtures.js";

const bench = spoolBench();

it("a spool is refused for a store that another one replaced, also after it was used, and allowed again", async () => {
  let store = "first";
  const tie = new StoreTie(new SpoolDirectory(bench.directory, realFileSystem), async () => store);
  await tie.require();
  store = "second";
  const refused = { code: "spool_unavailable", message: expect.stringContaining("another store") as string };
  await expect(tie.read()).rejects.toMatchObject(refused);
  await expect(tie.require()).rejects.toMatchObject(refused);
  store = "first";
  await tie.require();
  expect(tie.problem).toBeUndefined();
});
