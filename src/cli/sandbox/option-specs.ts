import { catalogue } from "../../sandbox/index.js";
import { type OptionSpec } from "../terminal/command.js";

const names = catalogue.map(({ name }) => name).join(", ");

/** The options of `tillkit sandbox`: those of `createSandbox`, as far as they can be written on a line. */
export const sandboxOptionSpecs: readonly OptionSpec[] = [
  { name: "port", value: "number", summary: "Default: 4000. 0 takes a free one." },
  {
    name: "host",
    value: "name",
    summary: "The interface to listen on. Default: 127.0.0.1, which only this machine reaches.",
  },
  {
    name: "public-url",
    value: "url",
    summary: "How browsers and the shop reach it, where that is another address.",
  },
  { name: "webhook", value: "url", repeated: true, summary: "An address that webhooks are sent to." },
  { name: "allow-remote-webhooks", summary: "Lets webhooks go to other machines." },
  {
    name: "scheme",
    value: "hmac|fields",
    choices: ["hmac", "fields"],
    summary: "What is signed: the whole body, or fields of it. Default: hmac.",
  },
  { name: "header", value: "name", summary: "The header of the signature. Default: Service-Signature." },
  { name: "merchant-id", value: "id", summary: "For fields: the merchant's identifier, signed along." },
  {
    name: "secret",
    value: "text",
    summary: "The webhook secret; must begin with sandbox_. Default: a generated one.",
  },
  { name: "client-id", value: "id", summary: "Who may obtain access tokens. Default: sandbox-merchant." },
  { name: "client-secret", value: "text", summary: "The secret to it. Default: a generated one." },
  { name: "token-ttl", value: "seconds", summary: "Lifetime of an access token. Default: 3600." },
  { name: "merchant-name", value: "text", summary: "The shop's name on the checkout page." },
  { name: "state", value: "file", summary: "An SQLite file that everything lasts in. Default: it forgets." },
  { name: "seed", value: "text", summary: "Makes ids, and the scenario random, repeatable." },
  {
    name: "scenario",
    value: "name",
    summary: `What payments go through: ${names}, random, or a JSON file of your own, with #name behind it where it holds several. Default: normal.`,
  },
  {
    name: "lenient",
    summary: "Takes what the interface document does not allow, where sense can be made of it.",
  },
  { name: "read-back", summary: "Answers GET /v1/payments and /v1/payments/{id}." },
  { name: "echo-client-id", summary: "The answer to a creation carries the clientId." },
  { name: "cancel-webhook", summary: "A cancel sends payment.canceled." },
  { name: "failure-webhook", summary: "A failure sends payment.failed." },
  {
    name: "statuses",
    value: "list",
    summary: "Statuses on the way to completed, separated by commas: init, submitted, approved, captured.",
  },
  { name: "status-webhooks", summary: "A webhook tells of each of those." },
  {
    name: "success-status",
    value: "200|201|202",
    choices: ["200", "201", "202"],
    summary: "Of a creation. Default: 201.",
  },
  {
    name: "error-bodies",
    value: "problem|bare|html",
    choices: ["problem", "bare", "html"],
    summary: "How errors are answered. Default: problem, which is JSON.",
  },
  { name: "webhook-delay", value: "ms", summary: "Pause before each webhook. Default: 0." },
  { name: "webhook-timeout", value: "ms", summary: "How long the shop has to answer. Default: 5000." },
  {
    name: "retries",
    value: "list",
    summary: 'Pauses before each further attempt, in ms. Default: 1000,5000,30000; "" sends once.',
  },
];
