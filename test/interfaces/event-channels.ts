import { readFileSync } from "node:fs";
import { eventTypes } from "../../src/model/event-map.js";

type Json = Record<string, unknown>;

/** Returns the AsyncAPI 3 description of the webhooks that come in, and of the events that handlers get. */
export function eventChannels(): Json {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  const messages = Object.fromEntries(
    eventTypes.map((type) => [
      type,
      { name: type, payload: { $ref: `./events.schema.json#/definitions/${type}` } },
    ]),
  );
  const messageRefs = eventTypes.map((type) => ({ $ref: `#/channels/events/messages/${type}` }));
  return {
    asyncapi: "3.0.0",
    info: {
      title: "Webhooks in, events out",
      version,
      description: "What the payment service sends to a shop, and what tillkit gives to the shop's handlers.",
    },
    defaultContentType: "application/json",
    channels: {
      webhooks: {
        address: "{publicUrl}/webhook",
        description:
          "The service posts each change of a payment here (interface document, 4.4 and 6). Only a correct signature is taken.",
        parameters: { publicUrl: { description: "The public address of the router." } },
        messages: {
          payment: {
            name: "payment",
            headers: {
              type: "object",
              required: ["Service-Signature"],
              properties: {
                "Service-Signature": {
                  type: "string",
                  description: "The signature of the body, in hexadecimal.",
                },
              },
            },
            payload: { $ref: "./webhook.schema.json" },
          },
        },
        bindings: { http: { bindingVersion: "0.3.0" } },
      },
      events: {
        address: null,
        description:
          "Durable events of the process: each handler gets each event until its transaction has committed.",
        messages,
      },
    },
    operations: {
      receiveWebhook: {
        action: "receive",
        channel: { $ref: "#/channels/webhooks" },
        messages: [{ $ref: "#/channels/webhooks/messages/payment" }],
        bindings: { http: { method: "POST", bindingVersion: "0.3.0" } },
      },
      dispatchEvent: { action: "send", channel: { $ref: "#/channels/events" }, messages: messageRefs },
    },
  };
}
