// A store in etcd, over the HTTP gateway of its nodes. The versions of the kit's records are those that etcd counts itself.
import { setTimeout as delay } from "node:timers/promises";
import { type BatchAdapter } from "tillkit";

type Range = { kvs?: { key: string; value: string; version: string }[] };
type Answer = Range & { succeeded?: boolean; responses?: { response_range: Range }[] };

const to64 = (text: string) => Buffer.from(text).toString("base64");
const from64 = (base64: string) => Buffer.from(base64, "base64").toString();

/**
 * The application adds operations of etcd: `{ requestPut: { key, value } }`, in base64. `maxChanges` is etcd's `--max-txn-ops`.
 * A write is given up after `timeoutMs`. A read is sent again after a quarter of it.
 */
export function etcdAdapter(
  nodes: string[],
  { prefix = "tillkit/", maxChanges = 128, timeoutMs = 1000 } = {},
): BatchAdapter<object> {
  const at = (key: string) => ({ key: to64(prefix + key) });
  const recordsOf = ({ kvs = [] }: Range) =>
    kvs.map((kv) => {
      const [key, value] = [from64(kv.key).slice(prefix.length), from64(kv.value)];
      return { key, value, version: Number(kv.version) };
    });
  let current = 0;
  async function post(path: string, request: object, isWrite = false): Promise<Answer> {
    const [body, headers] = [JSON.stringify(request), { "grpc-metadata-hasleader": "true" }];
    // An election takes about two seconds. By the header, a node without a leader refuses.
    for (const until = performance.now() + 4 * timeoutMs; ; await delay(20)) {
      const tried = current;
      try {
        // A node can leave waiting what it has sent to a leader that is gone. A read is harmless to repeat.
        // A write follows a read that was answered. It is given up before another leader is elected.
        const signal = AbortSignal.timeout(isWrite ? timeoutMs : timeoutMs / 4);
        const options = { method: "POST", headers, body, signal };
        const response = await fetch(`${nodes[tried]}/v3/kv/${path}`, options);
        if (response.ok) return (await response.json()) as Answer;
        throw new Error("etcd refused a request.", { cause: await response.text() });
      } catch (error) {
        if (current === tried) current = (tried + 1) % nodes.length;
        // A write that was perhaps made is not made again. These were not:
        const { cause } = error as { cause?: { errors?: unknown[] } };
        // A host with several addresses has one error for each.
        const causes = [cause, ...(cause?.errors ?? [])].map(String);
        const isUnsent = causes.some((text) => /ECONNREFUSED|EHOSTUNREACH|no leader/.test(text));
        if ((isWrite && !isUnsent) || performance.now() > until) throw error;
      }
    }
  }
  return {
    durable: true,
    maxChanges,
    async read(keys) {
      const success = keys.map((key) => ({ requestRange: at(key) }));
      const { responses = [] } = await post("txn", { success });
      return responses.flatMap((one) => recordsOf(one.response_range));
    },
    async scan({ from, to, limit, reverse }) {
      const order = reverse ? { sort_order: "DESCEND", sort_target: "KEY" } : {};
      return recordsOf(await post("range", { ...at(from), range_end: at(to).key, limit, ...order }));
    },
    async write(changes, operations) {
      const compare = changes.map(({ key, version }) => ({ ...at(key), target: "VERSION", version }));
      const made = changes.map(({ key, value }) =>
        value === null ? { requestDeleteRange: at(key) } : { requestPut: { ...at(key), value: to64(value) } },
      );
      return (await post("txn", { compare, success: [...made, ...operations] }, true)).succeeded === true;
    },
  };
}
