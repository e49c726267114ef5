// A store in one Redis that syncs every write. Commands of the application run in the script that writes the kit's records.
import { type BatchAdapter, TillkitError } from "tillkit";

/** A connected client of the package `redis`. */
type Client = { sendCommand(command: string[]): Promise<unknown>; close(): Promise<unknown> };

// A sorted set has "key, version, value" in lines; a line feed sorts before every character of a key. Redis rolls nothing back when
// a command fails. Only the application's commands can fail, so they run first. An error such as OOM is not theirs.
const script = String.raw`
  local changes, commands, old = cjson.decode(ARGV[1]), cjson.decode(ARGV[2]), {}
  for i, c in ipairs(changes) do
    old[i] = redis.call("ZRANGE", KEYS[1], "[" .. c.key .. "\n", "(" .. c.key .. "\v", "BYLEX")[1]
    if tonumber(old[i] and string.match(old[i], "\n(%d+)\n") or 0) ~= c.version then return 0 end
  end
  for _, command in ipairs(commands) do
    local reply = redis.pcall(unpack(command))
    if type(reply) == "table" and reply.err then return reply.err end
  end
  for i, c in ipairs(changes) do
    if old[i] then redis.call("ZREM", KEYS[1], old[i]) end
    if c.value ~= cjson.null then redis.call("ZADD", KEYS[1], 0, c.key .. "\n" .. c.version + 1 .. "\n" .. c.value) end
  end
  return 1`;
const needed = "appendonly=yes appendfsync=always no-appendfsync-on-rewrite=no maxmemory-policy=noeviction";

export function redisAdapter(client: Client, name = "tillkit"): BatchAdapter<string[]> {
  const range = async (...args: string[]) => {
    const found = (await client.sendCommand(["ZRANGE", name, ...args])) as string[];
    const records = found.map((lines) => lines.split("\n") as [string, string, string]);
    return records.map(([key, version, value]) => ({ key, version: Number(version), value }));
  };
  return {
    durable: true,
    read: async (keys) =>
      (await Promise.all(keys.map((key) => range(`[${key}\n`, `(${key}\v`, "BYLEX")))).flat(),
    scan({ from, to, limit, reverse }) {
      const ends = reverse ? [`(${to}`, `[${from}`, "BYLEX", "REV"] : [`[${from}`, `(${to}`, "BYLEX"];
      return range(...ends, "LIMIT", "0", `${limit}`);
    },
    async write(changes, commands) {
      const args = [changes, commands].map((list) => JSON.stringify(list));
      const answer = await client.sendCommand(["EVAL", script, "1", name, ...args]);
      if (typeof answer !== "string") return answer === 1;
      throw /^(ERR|WRONGTYPE)/.test(answer) ? new TillkitError("store_conflict", answer) : new Error(answer);
    },
    async now() {
      const [seconds, micros] = (await client.sendCommand(["TIME"])) as string[];
      return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
    },
    async migrate() {
      for (const [option = "", value] of needed.split(" ").map((setting) => setting.split("="))) {
        const set = Object.values((await client.sendCommand(["CONFIG", "GET", option])) as object).at(-1);
        if (set !== value)
          throw new Error(`Redis could lose payments: ${option} is ${set}. Set it to ${value}.`);
      }
    },
    close: async () => void (await client.close()),
  };
}
