import { type Delivery, type SandboxEvent } from "../../sandbox/index.js";
import { type Output } from "../terminal/output.js";

/** One event of the sandbox on one line, readable at a glance: time, what, how it went, about which payment. */
export function lineOf(event: SandboxEvent, output: Output): string {
  if (event.type === "delivery") return deliveryLine(event.delivery, output);
  const { payment } = event;
  const at = event.type === "payment.created" ? payment.createdAt : undefined;
  const { total, status, clientId, scenario } = payment;
  const note = scenario === "normal" ? "" : output.paint("yellow", ` [${scenario}]`);
  const what = event.type === "payment.created" ? "created" : status;
  const coloured = output.paint(paymentColours[what] ?? "cyan", what.padEnd(10));
  return `${clockTime(at)} payment  ${coloured} ${total.value} ${total.currency} ${clientId}${note}`;
}

/** One attempt to send one webhook. */
export function deliveryLine(delivery: Delivery, output: Output): string {
  const { status, error, attempt, durationMs, url, at, scenario } = delivery;
  const answer = status === undefined ? `no answer: ${error}` : String(status);
  const isTaken = status !== undefined && status >= 200 && status < 300;
  const note = scenario === undefined ? "" : output.paint("yellow", ` [${scenario}]`);
  const again = attempt > 1 ? `, attempt ${attempt}` : "";
  const coloured = output.paint(isTaken ? "green" : "red", answer.padEnd(10));
  return `${clockTime(at)} webhook  ${coloured} ${said(delivery)} → ${url} (${durationMs} ms${again})${note}`;
}

const paymentColours: Readonly<Record<string, Parameters<Output["paint"]>[0]>> = {
  completed: "green",
  canceled: "yellow",
  failed: "red",
};

/** The topic and the clientId, as far as the bytes can be read: some scenarios spoil them. */
function said({ requestBody }: Delivery): string {
  try {
    const body = JSON.parse(requestBody) as { topic?: unknown; data?: { clientId?: unknown } };
    return [body.topic, body.data?.clientId].filter((part) => typeof part === "string").join(" ");
  } catch {
    return `${requestBody.slice(0, 40)}…`;
  }
}

/** Of the event, or of now: hours to milliseconds of UTC. */
function clockTime(at: string | undefined): string {
  return (at ?? new Date().toISOString()).slice(11, 23);
}
