import { copyOf, modelMutations } from "./mutate-model.mjs";
import { byteMutations, space } from "./mutate-bytes.mjs";
import { signatureMutations } from "./mutate-signature.mjs";
import { jsonOf } from "./messages.mjs";

const onModel = Object.entries(modelMutations);
const onBytes = Object.entries(byteMutations);
const onSignature = Object.entries(signatureMutations);

/** One case in this many is not changed, and must be accepted. It fails a verifier that refuses everything. */
const oneControlIn = 50;

/**
 * Makes a case: a signed message of a target, changed in one to three ways. `random` decides everything. `done` lists the
 * changes.
 */
export function makeCase(targets, totalWeight, random) {
  const target = drawTarget(targets, random.below(totalWeight));
  const message = random.pick(target.messages);
  const made = { target, message, body: message.body, signature: message.signature, done: [] };
  if (random.chance(oneControlIn)) return made;
  switch (random.below(8)) {
    case 0:
      otherMessage(made, random);
      break;
    case 1:
    case 2:
      changeSignature(made, random);
      break;
    case 3:
    case 4:
      changeBytes(made, random);
      break;
    default:
      changeModel(made, random);
      if (random.chance(8)) changeBytes(made, random);
      if (random.chance(8)) changeSignature(made, random);
  }
  return made;
}

function drawTarget(targets, at) {
  let left = at;
  for (const target of targets) {
    if (left < target.weight) return target;
    left -= target.weight;
  }
  throw new Error("beyond the weights");
}

/** Combines the signature of one message with another message, or a message with a foreign signature. */
function otherMessage(made, random) {
  const other = random.pick(made.target.messages);
  made.done.push("otherMessage");
  made.body = other.body;
  if (random.chance(2)) made.signature = other.foreign;
}

function changeSignature(made, random) {
  const [name, change] = random.pick(onSignature);
  made.done.push(name);
  made.signature = change(made.message.signature, random, made.message.foreign);
}

function changeBytes(made, random) {
  const [name, change] = random.pick(onBytes);
  made.done.push(name);
  made.body = change(made.body, random);
}

function changeModel(made, random) {
  const model = copyOf(made.message.model);
  for (let left = 1 + random.below(3); left > 0; left--) {
    const [name, change] = random.pick(onModel);
    made.done.push(name);
    change(model, random);
  }
  if (random.chance(4)) {
    made.done.push("spaces");
    made.body = Buffer.from(jsonOf(model, space(random)));
  } else made.body = Buffer.from(jsonOf(model));
}
