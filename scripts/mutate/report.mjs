import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { reasons } from "../../test/mutation/reasons.mjs";

/**
 * Returns the report on the stored results: a table of the parts, and every survivor with its reason.
 * A survivor is named by its file and its text, because line numbers change. Survivors whose text is gone are only counted.
 */
export function report(results, root) {
  const rows = Object.entries(results).map(([part, { mutants, killed, survivors, note }]) => {
    const percent = ((100 * killed) / mutants).toFixed(1);
    const name = note === undefined ? `\`${part}\`` : `\`${part}\`, ${note}`;
    return `| ${name} | ${mutants} | ${killed} | ${percent} % | ${survivors.length} |`;
  });
  const lists = Object.entries(results).map(([part, { survivors }]) => {
    if (survivors.length === 0) return `## ${part}\n\nNo mutant survives.`;
    const current = survivors.filter(({ file, from }) => sourceIn(path.join(root, file)).includes(from));
    const lines = current.map((survivor) => {
      const { file, from, to } = survivor;
      return `| ${file.slice("src/".length)} | ${code(from)} | ${code(to)} | ${reasonOf(survivor)} |`;
    });
    const changed = survivors.length - current.length;
    const note =
      changed === 0 ? "" : `\n\nSurvivors whose lines have changed since they were measured: ${changed}.`;
    return `## ${part}\n\n| Where | Line | Replacement | Why it survives |\n|---|---|---|---|\n${lines.join("\n")}${note}`;
  });
  return `# Mutation testing

\`npm run mutate\` changes the sources in small ways (mutants) and runs the tests of the mirrored folder on each change. A mutant is
killed when a test fails or hangs. Sentences for people, such as the messages of errors, are left out (strings with two spaces or
more), because no test is about their wording. This file is written by the command; the reasons are in
[reasons.mjs](reasons.mjs).

| Folder of src | Mutants | Killed | Killed % | Survivors |
|---|---|---|---|---|
${rows.join("\n")}

${lists.join("\n\n")}
`;
}

/** Returns the text of a source, with each run of white space as one space; empty for a file that is gone. */
function sourceIn(file) {
  return existsSync(file) ? readFileSync(file, "utf8").replaceAll(/\s+/g, " ") : "";
}

/** Returns why a survivor is left: the first reason whose parts the survivor contains. */
function reasonOf({ file, from, to }) {
  const found = reasons.find(
    (reason) => file.endsWith(reason.file) && from.includes(reason.from) && (reason.to ?? to) === to,
  );
  return found?.why ?? "no test notices it yet";
}

function code(text) {
  const short = text.length > 90 ? `${text.slice(0, 87)}...` : text;
  return `\`${short.replaceAll("|", "\\|").replaceAll("`", "'")}\``;
}
