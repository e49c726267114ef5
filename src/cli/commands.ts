import { type Command } from "./command.js";
import { doctor } from "./commands/doctor.js";
import { listen } from "./commands/listen.js";
import { migrate } from "./commands/migrate.js";
import { reconcile } from "./commands/reconcile.js";
import { replay } from "./commands/replay.js";
import { sandbox } from "./commands/sandbox.js";
import { scenario } from "./commands/scenario.js";
import { sign } from "./commands/sign.js";
import { trigger } from "./commands/trigger.js";
import { verify } from "./commands/verify.js";

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
