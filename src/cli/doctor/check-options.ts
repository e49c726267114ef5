import { type ConfigurationProblem } from "../../errors/index.js";
import { type Finding } from "../terminal/finding.js";
import { found } from "./findings.js";
import { type Patient } from "./subject.js";

/** Of these there is a check of its own, which says more. */
const toldElsewhere = /^(TILLKIT_WEBHOOK_SECRET|TILLKIT_PUBLIC_KEY|file|urlOrPool|signature)/;
/** So are these, where they are set at all. */
const judgedWhereSet = ["TILLKIT_PUBLIC_URL", "TILLKIT_DATABASE"];

/**
 * For an app that is configured by the environment alone: everything that the kit would refuse to start with. Such an app
 * is known by variables that nothing but the kit reads.
 */
export async function checkOptions({ environment, outside }: Patient): Promise<Finding[]> {
  const own = ["TILLKIT_PUBLIC_URL", "TILLKIT_SERVICE_URL"].filter((name) => environment[name]);
  if (outside || own.length === 0) return [];
  const problems = await problemsOf(environment);
  return problems
    .filter(({ code, option }) => !toldElsewhere.test(option) && code !== "sandbox_credential_in_production")
    .filter(({ option }) => !(judgedWhereSet.includes(option) && environment[option]))
    .map(({ option, message }) => found("configuration_invalid", `${option} ${message}`));
}

async function problemsOf(environment: Patient["environment"]): Promise<readonly ConfigurationProblem[]> {
  // Loaded here only: it brings Express along, which the other commands do without.
  const { optionsFromEnvironment } = await import("../../index.js");
  try {
    optionsFromEnvironment(environment);
    return [];
  } catch (error) {
    if (typeof error === "object" && error !== null && "problems" in error)
      return error.problems as ConfigurationProblem[];
    throw error;
  }
}
