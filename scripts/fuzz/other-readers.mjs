// JSON readers that share no code with the kit. Where a message with changed bytes was accepted, every reader must read the
// signed values in it.

/** Reads like JSON.parse, but uses the first of two members with one key. Throws where the text is not JSON. */
export function readFirstWins(text) {
  let at = 0;
  const value = readValue();
  skip();
  if (at < text.length) throw new Error("text after the value");
  return value;

  function skip() {
    while (at < text.length && " \t\n\r".includes(text[at])) at++;
  }

  function readValue() {
    skip();
    if (text[at] === "{") return readObject();
    if (text[at] === "[") return readList();
    const start = at;
    if (text[at] === '"') return readString();
    while (at < text.length && !" \t\n\r,:]}".includes(text[at])) at++;
    return JSON.parse(text.slice(start, at));
  }

  function readString() {
    const start = at++;
    while (text[at] !== '"') {
      if (at >= text.length) throw new Error("a string without end");
      at += text[at] === "\\" ? 2 : 1;
    }
    return JSON.parse(text.slice(start, ++at));
  }

  function readObject() {
    const members = new Map();
    at++;
    for (skip(); text[at] !== "}"; skip()) {
      if (members.size > 0 || text[at] === ",") expect(",");
      skip();
      const key = readString();
      skip();
      expect(":");
      const value = readValue();
      if (!members.has(key)) members.set(key, value);
    }
    at++;
    return members;
  }

  function readList() {
    const list = [];
    at++;
    for (skip(); text[at] !== "]"; skip()) {
      if (list.length > 0) expect(",");
      list.push(readValue());
    }
    at++;
    return list;
  }

  function expect(mark) {
    if (text[at++] !== mark) throw new Error(`${mark} is missing`);
  }
}

/** Returns the fields that are signed by default, as each of two readers reads them. Throws where a reader cannot read them. */
export function signedAccordingToEach(body) {
  const text = new TextDecoder().decode(body);
  const last = JSON.parse(text);
  const first = readFirstWins(text);
  return [
    fieldsOf((...path) => path.reduce((value, key) => value?.[key], last)),
    fieldsOf((...path) =>
      path.reduce((value, key) => (value instanceof Map ? value.get(key) : undefined), first),
    ),
  ];
}

function fieldsOf(read) {
  return [
    read("data", "id"),
    read("data", "clientId"),
    read("data", "total", "value"),
    read("data", "total", "currency"),
    read("data", "submittedAt") || "",
    read("data", "status"),
  ];
}
