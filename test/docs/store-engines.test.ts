import { read } from "./documents.js";
import { firstBlock, makeTutorial, resultOf, type Tutorial } from "./tutorial.js";

const program = firstBlock(read("docs/store-engines.md"), "js");

describe("the store of docs/store-engines.md", () => {
  let tutorial: Tutorial;
  beforeAll(() => {
    tutorial = makeTutorial();
    tutorial.write("my-store.js", program);
  }, 120_000);
  afterAll(() => tutorial.remove());

  it("passes the whole exam", async () => {
    const { failures, summary } = resultOf((await tutorial.exam("./my-store.js")).stdout);
    expect(failures).toEqual([]);
    // A file has no connection that could be cut.
    expect(summary).toBe("166 passed, 0 failed, 2 left out.");
  }, 240_000);

  it("syncs the directory of its file once, because a power failure could take back the name of a new file", async () => {
    tutorial.write(
      "sync.js",
      `import fs from "node:fs";
      import { syncBuiltinESMExports } from "node:module";
      const sync = fs.fsyncSync;
      const synced = [];
      fs.fsyncSync = (file) => {
        synced.push(fs.fstatSync(file).isDirectory() ? fs.existsSync("synced.jsonl") : "file");
        sync(file);
      };
      syncBuiltinESMExports();
      const { open } = await import("./my-store.js");
      const store = open("synced.jsonl");
      await store.transaction(async (tx) => tx.add({ order: "order-1", isPaid: false }));
      await store.close();
      console.log(JSON.stringify(synced));`,
    );
    expect(await tutorial.run("sync.js")).toEqual([true, "file"]);
  });

  it("refuses an order that it does not know, and keeps the others after half a line", async () => {
    tutorial.write(
      "orders.js",
      `import { appendFileSync } from "node:fs";
      import { open } from "./my-store.js";
      const add = (store, item) => store.transaction(async (tx) => tx.add(item)).catch(({ code }) => code);
      const store = open("payments.jsonl");
      await add(store, { order: "order-1", isPaid: false });
      const refused = await add(store, { order: "order-2", isPaid: true });
      await store.close();
      appendFileSync("payments.jsonl", '[{"order":"order-1"');
      await add(open("payments.jsonl"), { order: "order-1", isPaid: true });
      const orders = new Map();
      await open("payments.jsonl", orders).close();
      console.log(JSON.stringify({ refused, orders: [...orders] }));`,
    );
    expect(await tutorial.run("orders.js")).toEqual({
      refused: "store_conflict",
      orders: [["order-1", true]],
    });
  });
});

it("docs/store-engines.md shows the shop with Mongoose as it is tested", () => {
  expect(read("docs/store-engines.md")).toContain(
    `\`\`\`typescript\n${read("examples/stores/mongoose.ts")}\`\`\``,
  );
});
