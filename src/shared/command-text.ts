/** Matches a part of a command, quoted or not, that would be read as an option. */
const hyphenated = /^'?-/;

/** Returns an option with its value, joined so that a value such as `-5` is not read as an option. */
export function optionText(option: string, value: string): string {
  return hyphenated.test(value) ? `${option}=${value}` : `${option} ${value}`;
}

/** Returns a command with its operand and options. An operand that begins with `-` comes last, after `--`. */
export function withOperand(command: string, operand: string, options: string): string {
  const parts = hyphenated.test(operand) ? [command, options, "--", operand] : [command, operand, options];
  return parts.filter((word) => word !== "").join(" ");
}
