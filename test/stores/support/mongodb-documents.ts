/** A document as the driver sends it. */
export type Document = Record<string, unknown>;

/** An error as the server answers it. */
export interface Failure extends Document {
  ok: 0;
  code: number;
  errmsg: string;
  errorLabels?: string[];
}

/** No document is larger on a server. */
const maxBytes = 16 * 1024 * 1024;

/** Returns an error. One that is transient lets the driver run the transaction again. */
export function failure(code: number, errmsg: string, isTransient = false): Failure {
  return { ok: 0, code, errmsg, ...(isTransient && { errorLabels: ["TransientTransactionError"] }) };
}

/** A version of a document; `null` where it was deleted. */
interface Version {
  at: number;
  document: Document | null;
}

/** An open transaction. */
export interface Transaction {
  number: number;
  timer: NodeJS.Timeout;
  /** What was committed until then is its snapshot. */
  at: number;
  /** What it wrote, which nobody else sees. */
  written: Map<Slot, Document | null>;
}

/** The place of one document. One transaction at a time can have written it. */
interface Slot {
  id: unknown;
  versions: Version[];
  writer?: Transaction | undefined;
}

interface Collection {
  slots: Map<unknown, Slot>;
  /** The fields that must be numbers, from a validator of this one form. */
  numbers: string[];
}

interface Write extends Document {
  q: Document;
  u: Document;
  upsert?: boolean;
}

/** The documents, with their versions for the snapshots of transactions. */
export class Documents {
  readonly #collections = new Map<string, Collection>();
  #now = 0;

  create(name: string, { validator = {} }: Document): Document {
    if (this.#collections.has(name)) throw failure(48, `Collection ${name} already exists.`);
    this.#collections.set(name, { slots: new Map(), numbers: Object.keys(validator as object) });
    return {};
  }

  drop(name: string): Document {
    this.#collections.delete(name);
    return {};
  }

  begin(): Pick<Transaction, "at" | "written"> {
    return { at: this.#now, written: new Map() };
  }

  commit({ written }: Transaction): void {
    this.#now++;
    for (const [slot, document] of written) slot.versions.push({ at: this.#now, document });
  }

  /** Releases what a transaction wrote. */
  end(transaction: Transaction): void {
    for (const slot of transaction.written.keys()) {
      if (slot.writer === transaction) slot.writer = undefined;
      // Snapshots are short here. Those that are older than so many versions would see too new a document.
      if (slot.versions.length > 200) slot.versions.splice(0, 100);
    }
    transaction.written.clear();
  }

  find(name: string, { filter = {}, sort = {}, limit = 0 }: Document, transaction?: Transaction): Document {
    const found = this.#matching(name, filter as Document, transaction).map(({ document }) => document);
    const [field, direction] = Object.entries(sort as Record<string, number>)[0] ?? [];
    if (field !== undefined)
      found.sort((a, b) => (String(a[field]) < String(b[field]) ? -1 : 1) * Number(direction));
    const firstBatch = Number(limit) > 0 ? found.slice(0, Number(limit)) : found;
    return { cursor: { id: 0n, ns: name, firstBatch } };
  }

  write(
    kind: "insert" | "update" | "delete",
    name: string,
    command: Document,
    transaction?: Transaction,
  ): Document {
    let [n, nModified] = [0, 0];
    const writer = transaction ?? { number: 0, timer: undefined as never, ...this.begin() };
    try {
      for (const [index, entry] of (command[fieldOf[kind]] as Document[]).entries()) {
        const problem = this.#writeOne(kind, name, entry, writer, (isChange) => {
          n++;
          if (isChange) nModified++;
          return undefined;
        });
        if (problem) return { n, nModified, writeErrors: [{ index, ...problem }] };
      }
      if (!transaction) this.commit(writer);
      return kind === "update" ? { n, nModified } : { n };
    } finally {
      if (!transaction) this.end(writer);
    }
  }

  #writeOne(
    kind: "insert" | "update" | "delete",
    name: string,
    entry: Document,
    writer: Transaction,
    count: (isChange: boolean) => undefined,
  ): { code: number; errmsg: string } | undefined {
    if (kind === "insert") {
      if (this.#matching(name, { _id: entry["_id"] }, writer).length > 0)
        return { code: 11000, errmsg: `E11000 duplicate key error collection: ${name}` };
      return this.#put(name, entry, writer) ?? count(true);
    }
    const { q, u, upsert } = entry as Write;
    const found = this.#matching(name, q, writer)[0];
    if (!found && kind === "update" && upsert)
      return this.#put(name, { ...q, ...changed({}, u) }, writer) ?? count(false);
    if (!found) return undefined;
    const { _id } = found.document;
    const next = kind === "delete" ? null : { _id, ...changed(found.document, u) };
    return this.#put(name, next ?? { _id }, writer, next === null) ?? count(true);
  }

  /** Writes a document. Rejects where another transaction has written it since the snapshot, or has not ended. */
  #put(name: string, document: Document, writer: Transaction, isDelete = false) {
    const { slots, numbers } = this.#collection(name);
    const key = keyOf(document["_id"]);
    const slot: Slot = slots.get(key) ?? { id: document["_id"], versions: [] };
    slots.set(key, slot);
    const isNewer = (slot.versions.at(-1)?.at ?? 0) > writer.at;
    if (isNewer || (slot.writer && slot.writer !== writer))
      throw failure(112, "WriteConflict error: this operation conflicted with another operation.", true);
    if (Object.values(document).some((value) => typeof value === "string" && value.length > maxBytes))
      throw failure(10334, "BSONObj size is invalid: it must be less than 16793600 bytes.");
    if (!isDelete && numbers.some((field) => typeof document[field] !== "number"))
      return { code: 121, errmsg: "Document failed validation" };
    slot.writer = writer;
    writer.written.set(slot, isDelete ? null : document);
    return undefined;
  }

  #matching(name: string, filter: Document, transaction?: Transaction): { document: Document }[] {
    const { slots } = this.#collection(name);
    const at = transaction?.at ?? this.#now;
    const { _id } = filter;
    const ids = typeof _id === "string" ? [_id] : (_id as { $in?: unknown[] } | undefined)?.$in;
    const candidates = ids ? ids.flatMap((id) => slots.get(keyOf(id)) ?? []) : [...slots.values()];
    return candidates.flatMap((slot) => {
      const own = transaction?.written.get(slot);
      const document =
        own === undefined ? slot.versions.findLast((version) => version.at <= at)?.document : own;
      return document && matches(document, filter) ? [{ document }] : [];
    });
  }

  /** A collection is made by its first use, as on a server. */
  #collection(name: string): Collection {
    const collection = this.#collections.get(name) ?? { slots: new Map(), numbers: [] };
    this.#collections.set(name, collection);
    return collection;
  }
}

const fieldOf = { insert: "documents", update: "updates", delete: "deletes" } as const;

/** Identifiers are strings, or objects of the driver whose string is unique. */
function keyOf(id: unknown): string {
  return `${typeof id} ${String(id)}`;
}

function matches(document: Document, filter: Document): boolean {
  return Object.entries(filter).every(([field, wanted]) => {
    const value = document[field];
    if (typeof wanted !== "object" || wanted === null) return value === wanted;
    const { $in, $gte, $lt } = wanted as { $in?: unknown[]; $gte?: string; $lt?: string };
    if ($in) return $in.includes(value);
    if ($gte === undefined && $lt === undefined) return keyOf(value) === keyOf(wanted);
    return ($gte === undefined || String(value) >= $gte) && ($lt === undefined || String(value) < $lt);
  });
}

/** Returns a document after an update: one that replaces it, or one with `$set`. */
function changed(document: Document, update: Document): Document {
  const operators = Object.keys(update).filter((field) => field.startsWith("$"));
  if (operators.length === 0) return update;
  const unknown = operators.find((operator) => operator !== "$set");
  if (unknown !== undefined) throw failure(9, `The stand-in has no ${unknown}.`);
  return { ...document, ...(update["$set"] as Document) };
}
