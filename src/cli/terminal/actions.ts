import { type Payments } from "../../index.js";
import { didYouMean } from "../../shared/nearest.js";
import { operandError, optionError } from "./arguments.js";
import { type Arguments, type ExitCode, type InputContext } from "./command.js";
import { withOfflineKit } from "./offline-kit.js";

/** An action of a command. The command's operand names the action. */
export interface Action {
  /** The options of this action that not every action of the command accepts. */
  options: readonly string[];
  /** Whether the command's object, the argument after the action, is needed, optional or refused. */
  object: "needed" | "optional" | "none";
  /** Runs the action on the database that the options name. */
  run: RunAction;
}

export type RunAction = (payments: Payments, args: Arguments, context: InputContext) => Promise<ExitCode>;

/** The names of a command and of its object, for messages. */
interface ActionNames {
  command: string;
  needed: string;
  refused: string;
}

/**
 * Runs the action that the operand names; without an operand, the first action. Checks the arguments first.
 *
 * @throws TillkitError `command_operand_invalid`, `command_option_invalid`, or the error of the database
 */
export async function runAction(
  actions: Readonly<Record<string, Action>>,
  { command, needed, refused }: ActionNames,
  args: Arguments,
  context: InputContext,
): Promise<ExitCode> {
  const names = Object.keys(actions);
  const word = args.operand ?? names[0]!;
  const action = Object.hasOwn(actions, word) ? actions[word]! : undefined;
  if (!action) {
    const known = `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
    // The operand may be an order or an id that was given without an action.
    const shown = "show" in actions ? ` To see ${word}: tillkit ${command} show ${word}` : "";
    throw operandError(`tillkit ${command} needs ${known}.${didYouMean(word, names) || shown}`);
  }
  if (action.object === "needed" && args.object === undefined)
    throw operandError(`tillkit ${command} ${word} needs ${needed}.`);
  if (action.object === "none" && args.object !== undefined)
    throw operandError(`tillkit ${command} ${word} takes no ${refused}.`);
  const wrong = Object.values(actions)
    .flatMap(({ options }) => options)
    .find((name) => args.has(name) && !action.options.includes(name));
  if (wrong !== undefined) throw optionError(`--${wrong} cannot be used with ${word}.`);
  return withOfflineKit(args, context, (payments) => action.run(payments, args, context));
}
