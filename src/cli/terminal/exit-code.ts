/** How a command ends, the same for all of them. */
export const exitCodes = {
  0: "It is done, or the answer is yes.",
  1: "The answer is no: the signature does not match, something was found.",
  2: "The command was used wrongly.",
  3: "It could not be done: a file, a database or the network stood in the way.",
} as const;

export type ExitCode = keyof typeof exitCodes;
