import { type Document } from "./mongodb-documents.js";
import { packageOf } from "./package-of.js";

interface Bson {
  serialize(document: Document): Uint8Array;
  deserialize(bytes: Uint8Array): Document;
}
const bson = packageOf<Bson>("bson");

/** Operation codes. The driver sends its first message in the old form. */
const [opReply, opQuery, opMsg] = [1, 2004, 2013];

/** A message with a command. */
export interface MongoMessage {
  id: number;
  code: number;
  command: Document;
}

/** Returns the messages that are complete, and the bytes after them. */
export function readMessages(bytes: Buffer): { messages: MongoMessage[]; left: Buffer } {
  const messages: MongoMessage[] = [];
  let left = bytes;
  while (left.length >= 4 && left.length >= left.readInt32LE(0)) {
    const length = left.readInt32LE(0);
    const code = left.readInt32LE(12);
    const body = left.subarray(16, length);
    messages.push({
      id: left.readInt32LE(4),
      code,
      command: code === opQuery ? readQuery(body) : readMsg(body),
    });
    left = left.subarray(length);
  }
  return { messages, left: Buffer.from(left) };
}

/** Flags, the name of a collection, two numbers, and the command. */
function readQuery(body: Buffer): Document {
  return bson.deserialize(body.subarray(body.indexOf(0, 4) + 9));
}

/** Flags and sections: the command, and sequences of documents, each of which belongs to one of its fields. */
function readMsg(body: Buffer): Document {
  let command: Document = {};
  for (let at = 4; at < body.length;) {
    const kind = body[at++];
    const end = at + body.readInt32LE(at);
    if (kind === 0) command = { ...bson.deserialize(body.subarray(at, end)), ...command };
    else {
      const nameEnd = body.indexOf(0, at + 4);
      const documents: Document[] = [];
      for (let from = nameEnd + 1; from < end; from += body.readInt32LE(from))
        documents.push(bson.deserialize(body.subarray(from, from + body.readInt32LE(from))));
      command[body.toString("utf8", at + 4, nameEnd)] = documents;
    }
    at = end;
  }
  return command;
}

let lastId = 0;

/** Returns the bytes of an answer, in the form of the question. */
export function replyTo({ id, code }: MongoMessage, document: Document): Buffer {
  const isQuery = code === opQuery;
  // Of the old form: flags, a cursor, a position, and the number of documents. Of the new one: flags, and the kind of the section.
  const head = Buffer.alloc(isQuery ? 20 : 5);
  if (isQuery) head.writeInt32LE(1, 16);
  const body = bson.serialize(document);
  const header = Buffer.alloc(16);
  const fields = [16 + head.length + body.length, ++lastId, id, isQuery ? opReply : opMsg];
  for (const [at, value] of fields.entries()) header.writeInt32LE(value, at * 4);
  return Buffer.concat([header, head, body]);
}
