import { type Delivery, type Refusal, type SandboxEvent } from "../../sandbox/index.js";
import { readJson } from "../../shared/read-json.js";
import { verifyLast } from "../../shared/refused-files.js";
import { oneLine, type Output } from "../terminal/output.js";

/** Returns one event of the sandbox as one line: time, kind, result, payment. */
export function eventLine(event: SandboxEvent, output: Output): string {
  if (event.type === "delivery") return deliveryLine(event.delivery, output);
  if (event.type === "refusal") return refusalLine(event.refusal, output);
  const { total, status, clientId, scenario } = event.payment;
  const isNew = event.type === "payment.created";
  const note = scenario === "normal" ? "" : output.paint("yellow", ` [${scenario}]`);
  const what = isNew ? "created" : status;
  const coloured = output.paint(paymentColours[what] ?? "cyan", what.padEnd(10));
  return `${clockTime(event.at)} payment  ${coloured} ${total.value} ${total.currency} ${clientId}${note}`;
}

function refusalLine({ at, request, status, detail }: Refusal, output: Output): string {
  const answer = output.paint("red", String(status).padEnd(10));
  return oneLine(`${clockTime(at)} refused  ${answer} ${request}: ${detail}`);
}

/** Returns one attempt to send one webhook as one line. */
export function deliveryLine(delivery: Delivery, output: Output): string {
  const { status, error, attempt, durationMs, url, at, scenario } = delivery;
  const answer = status === undefined ? `no answer: ${error}` : String(status);
  const isAccepted = status !== undefined && status >= 200 && status < 300;
  const note = scenario === undefined ? "" : output.paint("yellow", ` [${scenario}]`);
  const why = status === 400 || status === 401 ? `, why: ${verifyLast()}` : "";
  const again = attempt > 1 ? `, attempt ${attempt}` : "";
  const coloured = output.paint(isAccepted ? "green" : "red", answer.padEnd(10));
  const about = topicAndClientId(delivery);
  return oneLine(
    `${clockTime(at)} webhook  ${coloured} ${about} → ${url} (${durationMs} ms${again}${why})${note}`,
  );
}

const paymentColours: Readonly<Record<string, Parameters<Output["paint"]>[0]>> = {
  completed: "green",
  canceled: "yellow",
  failed: "red",
};

/** Returns the topic and the clientId of a webhook, or the first characters of a body that is not JSON. */
function topicAndClientId({ requestBody }: Delivery): string {
  const body = readJson(requestBody) as { topic?: unknown; data?: { clientId?: unknown } } | null | undefined;
  if (!body) return `${requestBody.slice(0, 40)}…`;
  return [body.topic, body.data?.clientId].filter((part) => typeof part === "string").join(" ");
}

/** Returns the time of day in UTC with milliseconds. */
function clockTime(at: string): string {
  return at.slice(11, 24);
}
