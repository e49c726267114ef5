// Changes that mostly keep a message valid JSON, made by an attacker who knows how JSON readers differ. Each changes the model
// of the message in place.

const dataOf = (model) => model.find(([key]) => key === '"data"')?.[1];
const listsOf = (model) => {
  const lists = [model];
  for (const list of lists) for (const [, value] of list) if (typeof value !== "string") lists.push(value);
  return lists;
};
const someMember = (model, random) => {
  const list = random.pick(listsOf(model));
  return list.length === 0 ? undefined : random.pick(list);
};
const member = (list, key) => list?.find(([name]) => name === `"${key}"`);

/** Returns a copy that can be changed. */
export const copyOf = (model) =>
  typeof model === "string" ? model : model.map(([key, value]) => [key, copyOf(value)]);

/** Values that a careless reader could mistake for the original value. */
const others = [
  "null",
  '""',
  "0",
  "1475",
  "1475.0",
  "1.475e3",
  '"1475.00"',
  '"+1475"',
  '" 1475"',
  '"1,475"',
  "[]",
  '["1475"]',
  "{}",
  "true",
  '"completed"',
  '"Completed"',
  '"completed\\u0000"',
  '"c-0"',
  '"\\ud800"',
  '"\\udfff"',
  '"KMF"',
  '"kmf"',
  '"payment"',
  "1e400",
  "-0",
  '{"toString":"1475"}',
  '{"value":"1"}',
];
const escaped = (text, random) => {
  const letters = [...text.matchAll(/[A-Za-z0-9.:-]/g)];
  if (letters.length === 0) return text;
  const { 0: letter, index } = random.pick(letters);
  if (text[index - 1] === "\\" || /\\u[0-9a-f]{0,3}$/i.test(text.slice(0, index))) return text;
  const code = letter.charCodeAt(0).toString(16).padStart(4, "0");
  return `${text.slice(0, index)}\\u${random.chance(2) ? code : code.toUpperCase()}${text.slice(index + 1)}`;
};

export const modelMutations = {
  /** `"completed"` becomes `"c\u006fmpleted"`, which is equal for every reader. */
  escapeValue(model, random) {
    const found = someMember(model, random);
    if (typeof found?.[1] === "string" && found[1][0] === '"') found[1] = escaped(found[1], random);
  },
  escapeKey(model, random) {
    const found = someMember(model, random);
    if (found) found[0] = escaped(found[0], random);
  },
  otherValue(model, random) {
    const found = someMember(model, random);
    if (found) found[1] = random.pick(others);
  },
  /** Changes or inserts one letter of a value. Some letters look like others. */
  otherLetter(model, random) {
    const found = someMember(model, random);
    if (typeof found?.[1] !== "string" || found[1].length < 3 || found[1][0] !== '"') return;
    const at = 1 + random.below(found[1].length - 2);
    const letter = random.pick([
      "0",
      "1",
      "a",
      "A",
      "\u0430",
      "\u0301",
      "\u00a0",
      "\u200b",
      ",",
      "\\u002c",
      "\\u0000",
      " ",
    ]);
    found[1] = found[1].slice(0, at) + letter + found[1].slice(at + random.below(2));
  },
  /** Repeats a key, plain or escaped, at any position. */
  repeatKey(model, random) {
    const list = random.pick(listsOf(model));
    if (list.length === 0) return;
    const [key, value] = random.pick(list);
    const again = [
      random.chance(2) ? escaped(key, random) : key,
      random.chance(3) ? value : random.pick(others),
    ];
    list.splice(random.below(list.length + 1), 0, again);
  },
  /** Swaps two values. */
  swapValues(model, random) {
    const [one, two] = [someMember(model, random), someMember(model, random)];
    // Copies, because one may be inside the other.
    if (one && two) [one[1], two[1]] = [copyOf(two[1]), copyOf(one[1])];
  },
  /** Moves characters, or a comma, from one field of the joined string to the next. */
  shiftComma(model, random) {
    const data = dataOf(model);
    if (typeof data === "string") return;
    const total = member(data, "total")?.[1];
    const joined = [
      member(data, "id"),
      member(data, "clientId"),
      ...(typeof total === "string" ? [] : [member(total, "value"), member(total, "currency")]),
      member(data, "submittedAt"),
      member(data, "status"),
    ].filter((found) => typeof found?.[1] === "string" && found[1][0] === '"');
    if (joined.length < 2) return;
    const at = random.below(joined.length - 1);
    const [one, two] = [joined[at], joined[at + 1]];
    const all = `${one[1].slice(1, -1)},${two[1].slice(1, -1)}`;
    const cut = random.below(all.length + 1);
    one[1] = `"${all.slice(0, cut)}"`;
    two[1] = `"${random.chance(2) ? all.slice(cut) : all.slice(cut + 1)}"`;
  },
  removeMember(model, random) {
    const list = random.pick(listsOf(model));
    if (list.length > 0) list.splice(random.below(list.length), 1);
  },
  /** Adds a member that no signature over fields covers, or that a careless reader could use. */
  addMember(model, random) {
    const list = random.pick(listsOf(model));
    const key = random.pick([
      "id",
      "status",
      "value",
      "clientId",
      "__proto__",
      "constructor",
      "data.status",
      "total.value",
      "extra",
      "Status",
      "status ",
    ]);
    list.splice(random.below(list.length + 1), 0, [JSON.stringify(key), random.pick(others)]);
  },
  /** Changes the order of members, which has no meaning. */
  reorder(model, random) {
    const list = random.pick(listsOf(model));
    for (let last = list.length - 1; last > 0; last--) {
      const other = random.below(last + 1);
      [list[last], list[other]] = [list[other], list[last]];
    }
  },
  /** Moves the payment one level deeper. */
  wrapData(model, random) {
    const found = member(model, "data");
    if (found && typeof found[1] !== "string")
      found[1] = random.chance(2) ? [['"data"', found[1]]] : [['"__proto__"', found[1]]];
  },
};
