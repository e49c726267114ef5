// A store in etcd, over the HTTP gateway of its nodes. The versions of the kit's records are those that etcd counts itself.
import { setTimeout as delay } from "node:timers/promises";
import { type BatchAdapter } from "tillkit";

type Range = { kvs?: { key: string; value: string; version: string }[] };
type Answer = Range & { succeeded?: boolean; responses?: { response_range: Range }[] };

const encode = (text: string) => Buffer.from(text).toString("base64");
const decode = (base64: string) => Buffer.from(base64, "base64").toString();

/** The application adds operations of etcd: `{ requestPut: { key, value } }`, in base64. `maxChanges` is etcd's `--max-txn-ops`. */
export function etcdAdapter(nodes: string[], prefix = "tillkit/", maxChanges = 128): BatchAdapter<object> {
  const at = (key: string) => ({ key: encode(prefix + key) });
  const recordsOf = ({ kvs = [] }: Range) =>
    kvs.map(({ key, value, version }) => {
      const decoded = { key: decode(key).slice(prefix.length), value: decode(value) };
      return { ...decoded, version: Number(version) };
    });
  let current = 0;
  async function post(path: string, request: object, isWrite = false): Promise<Answer> {
    // An election takes about two seconds.
    for (const until = performance.now() + 4000; ; await delay(20)) {
      const tried = current;
      try {
        const [body, headers] = [JSON.stringify(request), { "grpc-metadata-hasleader": "true" }];
        const options = { method: "POST", headers, body, signal: AbortSignal.timeout(1000) };
        const response = await fetch(`${nodes[tried]}/v3/kv/${path}`, options);
        if (response.ok) return (await response.json()) as Answer;
        throw new Error("etcd refused a request.", { cause: await response.text() });
      } catch (error) {
        if (current === tried) current = (tried + 1) % nodes.length;
        // A write that was perhaps made is not made again. These were not:
        const isUnsent = /ECONNREFUSED|EHOSTUNREACH|no leader/.test(String((error as Error).cause));
        if ((isWrite && !isUnsent) || performance.now() > until) throw error;
      }
    }
  }
  return {
    durable: true,
    maxChanges,
    async read(keys) {
      const { responses = [] } = await post("txn", {
        success: keys.map((key) => ({ requestRange: at(key) })),
      });
      return responses.flatMap((one) => recordsOf(one.response_range));
    },
    async scan({ from, to, limit, reverse }) {
      const order = reverse ? { sort_order: "DESCEND", sort_target: "KEY" } : {};
      return recordsOf(await post("range", { ...at(from), range_end: at(to).key, limit, ...order }));
    },
    async write(changes, operations) {
      const compare = changes.map(({ key, version }) => ({ ...at(key), target: "VERSION", version }));
      const made = changes.map(({ key, value }) => {
        if (value === null) return { requestDeleteRange: at(key) };
        return { requestPut: { ...at(key), value: encode(value) } };
      });
      const { succeeded } = await post("txn", { compare, success: [...made, ...operations] }, true);
      return succeeded === true;
    },
  };
}
