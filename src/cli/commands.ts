import { type Command } from "./terminal/command.js";
import { doctor } from "./doctor/command.js";
import { listen } from "./sandbox/listen.js";
import { migrate } from "./migrate/command.js";
import { reconcile } from "./reconcile/command.js";
import { replay } from "./replay/command.js";
import { sandbox } from "./sandbox/command.js";
import { scenario } from "./sandbox/scenario.js";
import { sign } from "./sign/command.js";
import { trigger } from "./sandbox/trigger.js";
import { verify } from "./verify/command.js";

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  sandbox,
  scenario,
  listen,
  trigger,
  sign,
  verify,
  reconcile,
  replay,
  migrate,
  doctor,
];
