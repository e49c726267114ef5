import { redisAdapter } from "../../../examples/stores/redis.js";
import { packageOf } from "../support/package-of.js";
import { type StoreModule } from "./store-module.js";

interface Client {
  on(event: "error", listener: () => void): void;
  connect(): Promise<void>;
  sendCommand(command: string[]): Promise<unknown>;
  close(): Promise<unknown>;
}

/** Connects to a Redis, also where it starts only now. */
export async function connectRedis(url: string): Promise<Client> {
  const { createClient } = packageOf<{ createClient: (this: void, options: object) => Client }>("redis");
  const client = createClient({ url });
  client.on("error", () => {});
  await client.connect();
  return client;
}

/** Makes the store of the Redis example, on the server at TILLKIT_TEST_REDIS_URL. The ledger is a list. */
export const create: StoreModule<{ add(command: string[]): void }>["create"] = async (
  { prefix },
  { storeOver },
) => {
  const url = process.env["TILLKIT_TEST_REDIS_URL"]!;
  const ask = async (...command: string[]): Promise<unknown> => {
    const client = await connectRedis(url);
    return client.sendCommand(command).finally(() => void client.close());
  };
  return {
    store: storeOver(redisAdapter(await connectRedis(url), `${prefix}records`)),
    write: (tx, row) => tx.add(["RPUSH", `${prefix}ledger`, JSON.stringify(row)]),
    async rows() {
      const rows = (await ask("LRANGE", `${prefix}ledger`, "0", "-1")) as string[];
      return rows.map((row) => JSON.parse(row));
    },
    remove: async () => void (await ask("DEL", `${prefix}ledger`, `${prefix}records`)),
  };
};
