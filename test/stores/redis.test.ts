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
