import { type Finding } from "../terminal/finding.js";
import { found } from "./findings.js";
import { isLocal } from "./local-address.js";
import { type Patient } from "./subject.js";

/** What must not be so in production, and whether production knows that it is one. */
export function checkProduction({ environment, production, publicUrl, settings }: Patient): Finding[] {
  const findings: Finding[] = [];
  if (production) {
    const names = [
      ...Object.keys(environment).filter((name) => environment[name]?.trim().startsWith("sandbox_")),
      ...settings.secrets
        .filter(({ text, from }) => text.startsWith("sandbox_") && environment[from] === undefined)
        .map(({ from }) => from),
    ];
    if (names.length > 0)
      findings.push(
        found(
          "sandbox_credential_in_production",
          `NODE_ENV is production, and ${names.join(", ")} ${names.length > 1 ? "hold" : "holds"} a credential of the sandbox.`,
        ),
      );
    for (const name of ["TILLKIT_SERVICE_URL", "TILLKIT_TOKEN_URL"])
      if (isLocal(environment[name]))
        findings.push(
          found(
            "service_url_local",
            `NODE_ENV is production, and ${name} leads to this machine or its network.`,
          ),
        );
  } else if (publicUrl?.startsWith("https:") && !isLocal(publicUrl)) {
    const is = environment["NODE_ENV"] ? `is ${environment["NODE_ENV"]}` : "is not set";
    findings.push(
      found("node_env_not_production", `The shop is public, at ${publicUrl}, and NODE_ENV ${is}.`),
    );
  }
  return findings;
}
