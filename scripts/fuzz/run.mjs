import { Progress } from "../../test/promises/crash/harness/progress.mjs";
import { makeCase } from "./make-case.mjs";
import { mayBeAccepted, mustBeAccepted } from "./may-be-accepted.mjs";
import { openRouters } from "./routers.mjs";
import { Random } from "./random.mjs";
import { makeTargets } from "./targets.mjs";

/** The maximum number of findings that are shown. */
const maxFindings = 20;
/** The number of cases after which the clock is checked and the event loop can run. */
const casesPerPause = 2048;

/** Runs the cases of a seed. Resolves with the counts and the findings. */
export async function run(kit, options) {
  const { seed, only, quiet, seconds } = options;
  const targets = makeTargets(kit);
  const totalWeight = targets.reduce((sum, { weight }) => sum + weight, 0);
  const random = new Random();
  const caseOf = (number) => {
    random.start(seed, number);
    return makeCase(targets, totalWeight, random);
  };
  if (only !== undefined) return showCase(caseOf(only), only, options);

  const total = options.count;
  const everyHttp = options.http > 0 ? Math.max(1, Math.floor(total / options.http)) : Infinity;
  const routers = await openRouters(kit, targets);
  const counts = { cases: 0, accepted: 0, refused: 0, untouched: 0, http: 0, answered200: 0 };
  const findings = [];
  const note = (number, what, { target, done, signature, body }) => {
    const shown = { signature, body: body.toString("latin1") };
    findings.push({ case: number, what, scheme: target.name, mutations: done, ...shown });
  };
  const progress = new Progress({
    total,
    unit: "mutations",
    quiet,
    describe: () => `${counts.accepted} accepted, ${findings.length} findings`,
  });
  const startedAt = performance.now();
  const tookSeconds = () => (performance.now() - startedAt) / 1000;

  // Most cases throw, and stack traces are not needed.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    for (let number = 0; number < total && findings.length < maxFindings; number++) {
      const made = caseOf(number);
      check(number, made, verify(made));
      if (number % everyHttp === 0) await overHttp(number, made);
      progress.tick();
      if (number % casesPerPause === 0) {
        await new Promise(setImmediate);
        if (seconds !== undefined && tookSeconds() >= seconds) break;
      }
    }
    findings.push(...(await routers.close()).map((what) => ({ what })));
  } catch (error) {
    await routers.close();
    throw error;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  const took = tookSeconds();
  return { seed, ...counts, findings, seconds: round(took), perSecond: Math.round(counts.cases / took) };

  function check(number, made, verdict) {
    counts.cases++;
    if (verdict === true) {
      counts.accepted++;
      if (made.done.length === 0) counts.untouched++;
      if (!mayBeAccepted(made)) note(number, "accepted, but its content was not signed", made);
    } else {
      counts.refused++;
      if (mustBeAccepted(made)) note(number, `refused (${verdict}), but its content was signed`, made);
    }
  }

  async function overHttp(number, made) {
    counts.http++;
    await routers.send(made, (status, problem) => {
      if (status === 200) counts.answered200++;
      if (problem !== undefined) note(number, problem, made);
    });
  }
}

/** Returns the result of the public `verify`: true, false, or the code of its error. */
export function verify({ target, body, signature }) {
  try {
    return target.scheme.verify({ rawBody: body, headers: { "service-signature": signature } });
  } catch (error) {
    return error.code ?? String(error);
  }
}

function showCase(made, number, { seed }) {
  const { target, message, body, signature, done } = made;
  const verdict = verify(made);
  const shown = {
    seed,
    case: number,
    scheme: target.name,
    mutations: done,
    verdict,
    mayBeAccepted: mayBeAccepted(made),
  };
  const isWrong = (verdict === true && !mayBeAccepted(made)) || (verdict !== true && mustBeAccepted(made));
  return {
    ...shown,
    findings: isWrong ? [shown] : [],
    signature,
    body: body.toString("latin1"),
    signed: { signature: message.signature, body: message.body.toString("latin1") },
  };
}

const round = (value) => Math.round(value * 100) / 100;
