import { storeOver } from "tillkit";
import { redisAdapter } from "../../examples/stores/redis.js";
import { freePort, onOwnServers, ownFolder, startProgram, stopOwnServers } from "../support/own-servers.js";
import { connectRedis } from "./modules/redis.js";
import { withPackages } from "./support/package-of.js";
import { storeTests } from "./support/store-tests.js";

const durable = ["--appendonly", "yes", "--appendfsync", "always"];

withPackages("the tests of a store in Redis", ["redis"], () => {
  onOwnServers("the tests of a store in Redis", ["redis-server"], () => {
    beforeAll(async () => (process.env["TILLKIT_TEST_REDIS_URL"] = await startRedis(durable)));
    afterAll(stopOwnServers);

    storeTests({ name: "a store in Redis", module: "redis.ts" });

    it("rejects with store_conflict where Redis refuses a command of the application, and with store_unavailable where it cannot write", async () => {
      const client = await connectRedis(await startRedis(durable));
      const store = storeOver(redisAdapter(client));
      await client.sendCommand(["SET", "text", "no list"]);
      const add = (...command: string[]) => store.transaction(async (tx) => tx.add(command));
      await expect(add("RPUSH", "text", "x")).rejects.toMatchObject({ code: "store_conflict" });
      await expect(add("NONSENSE")).rejects.toMatchObject({ code: "store_conflict" });
      await client.sendCommand(["CONFIG", "SET", "maxmemory", "1"]);
      await expect(add("SET", "text", "y")).rejects.toMatchObject({ code: "store_unavailable" });
      expect(await client.sendCommand(["GET", "text"])).toBe("no list");
      await store.close();
    });

    it.each([
      ["appendonly", "no", ["--appendonly", "no"]],
      ["appendfsync", "everysec", ["--appendonly", "yes"]],
      ["maxmemory-policy", "allkeys-lru", [...durable, "--maxmemory-policy", "allkeys-lru"]],
      ["no-appendfsync-on-rewrite", "yes", [...durable, "--no-appendfsync-on-rewrite", "yes"]],
    ])("a Redis that could lose payments is refused: %s is %s", async (option, value, settings) => {
      const store = storeOver(redisAdapter(await connectRedis(await startRedis(settings))));
      await expect(store.migrate()).rejects.toThrow(`${option} is ${value}. Set it to `);
      await store.close();
    });
  });
});

async function startRedis(settings: readonly string[]): Promise<string> {
  const port = await freePort();
  startProgram("redis-server", [
    "--port",
    `${port}`,
    "--bind",
    "127.0.0.1",
    "--dir",
    ownFolder(),
    ...settings,
  ]);
  return `redis://127.0.0.1:${port}`;
}
