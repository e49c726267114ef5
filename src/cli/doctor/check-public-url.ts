import { type Finding } from "../terminal/finding.js";
import { found } from "./findings.js";
import { notAnswered } from "./judge-entrance.js";
import { isLocal, isThisMachine } from "./local-address.js";
import { type Patient } from "./subject.js";
import { probeBodies } from "./probe/bodies.js";
import { isRefusedByKit } from "./probe/kit-mark.js";
import { isAnswer, isTaken, type Reply, send } from "./probe/send.js";
import { makeProbeSigner } from "./probe/sign-probe.js";

/** Whether the public address can be one at all. */
export function checkPublicUrl({ publicUrl, production }: Patient): Finding[] {
  if (publicUrl === undefined) return [];
  if (!URL.canParse(publicUrl) || !/^https?:$/.test(new URL(publicUrl).protocol))
    return [found("public_url_invalid", "The public address is none that begins with https://.")];
  const { protocol, search, hash, pathname } = new URL(publicUrl);
  if (search !== "" || hash !== "")
    return [
      found("public_url_invalid", `${publicUrl} has a query or a fragment, and paths are added to it.`),
    ];
  if (/\/webhook\/?$/.test(pathname))
    return [
      found(
        "public_url_invalid",
        `${publicUrl} is the webhook's address, and not that of the router's mount.`,
      ),
    ];
  if (production && isLocal(publicUrl))
    return [
      found("public_url_local", `NODE_ENV is production, and ${publicUrl} is not reached from outside.`),
    ];
  if (protocol === "http:" && !isThisMachine(publicUrl))
    return [found("public_url_insecure", `${publicUrl} is not https.`)];
  return [];
}

/**
 * Whether the public address leads to the app that answers at `--url`. `local` is what that app, one of the kit, said to a
 * correctly signed webhook, if it was asked.
 */
export async function probePublicUrl(patient: Patient, local: Reply | undefined): Promise<Finding[]> {
  const { publicUrl, mount, settings, now } = patient;
  if (publicUrl === undefined || mount === undefined) return [];
  const address = `${publicUrl.replace(/\/+$/, "")}/webhook`;
  if (address === patient.webhook) return [];
  const post = (headers: Record<string, string>) =>
    send(address, {
      body: probeBodies.compact,
      headers: { "Content-Type": "application/json", ...headers },
      now,
    });

  const reply = await post({});
  if (!isAnswer(reply)) {
    if (reply.failure === "certificate") return [notAnswered(address, reply)];
    const [own, other] = [new URL(publicUrl).pathname, new URL(mount).pathname].map((path) =>
      path.replace(/\/+$/, ""),
    );
    const differs = own === other ? "" : ` Its path, ${own || "/"}, is not that of ${mount}.`;
    return [
      found("public_url_unreachable", `${address} cannot be reached from here: ${reply.reason}.${differs}`),
    ];
  }
  if (!isRefusedByKit(reply))
    return [
      found(
        "public_url_wrong",
        `${address} is answered ${reply.status}, and not by the app that answers at ${mount}.`,
      ),
    ];
  const sign = makeProbeSigner(settings);
  if (!sign || !isTaken(local)) return [];
  const signed = await post({ [settings.header]: sign(Buffer.from(probeBodies.compact)) });
  if (isTaken(signed) || !isAnswer(signed)) return [];
  return [
    found(
      "public_url_wrong",
      `${address} refuses (${signed.status}) the correctly signed webhook that ${mount} takes: it leads to another app.`,
    ),
  ];
}
