import { reasons } from "../../test/mutation/reasons.mjs";

/** Returns the report on the stored results: a table of the parts, and every survivor with the reason why it survives. */
export function report(results) {
  const rows = Object.entries(results).map(([part, { mutants, killed, survivors, note }]) => {
    const percent = ((100 * killed) / mutants).toFixed(1);
    const name = note === undefined ? `\`${part}\`` : `\`${part}\`, ${note}`;
    return `| ${name} | ${mutants} | ${killed} | ${percent} % | ${survivors.length} |`;
  });
  const lists = Object.entries(results).map(([part, { survivors }]) => {
    if (survivors.length === 0) return `## ${part}\n\nNo mutant survives.`;
    const lines = survivors.map((survivor) => {
      const { file, line, from, to } = survivor;
      return `| ${file.slice("src/".length)}:${line} | ${code(from)} | ${code(to)} | ${reasonOf(survivor)} |`;
    });
    return `## ${part}\n\n| Where | Line | Replacement | Why it survives |\n|---|---|---|---|\n${lines.join("\n")}`;
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
