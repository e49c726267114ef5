import { z } from "zod";
import { parseSecureAddress } from "./address.js";

// What the kit sends and reads of the interface document's sections 2.1, 2.2 and 4.1. Fields beyond these are
// allowed everywhere. Fields that the kit has no use for (`captured`, `createdAt`, the echoed addresses) are not
// demanded: an answer that lacks one still names a real payment, and refusing it would lose the checkout address.

const total = z.object({
  // The grammar of an amount that the kit accepts anywhere; others could not be compared.
  value: z.string().regex(/^(0|[1-9]\d{0,15})(\.\d{1,4})?$/),
  currency: z.string().min(1).max(16),
});

/** As the kit reads it in webhooks: what could not stand there could never be matched. */
const word = z
  .string()
  .max(128)
  .regex(/^[^\p{Cc}\p{Surrogate}]+$/u);

/** Body of the creation request (interface document, 4.1). */
export const creationRequestSchema = z.object({
  purchase: z.object({ total }),
  clientId: z.string(),
  cancelUrl: z.string(),
  successUrl: z.string(),
});

/** Where the customer is sent: the browser goes there, so it must be https unless it is this machine. */
const checkoutAddress = z
  .string()
  .max(2048)
  .refine((text) => parseSecureAddress(text) !== undefined, {
    error: "must be an absolute https address (http only on this machine)",
  });

/**
 * Envelope of the creation response (interface document, 2.2). `next` should equal `data.billing.submitUrl`; a
 * service in which they differ is not refused, because the document (4.1) sends the customer to `submitUrl` and
 * nothing depends on `next`.
 */
export const creationResponseSchema = z.object({
  next: z.string().optional(),
  data: z.object({
    id: word,
    status: word,
    purchase: z.object({ total }),
    billing: z.object({ submitUrl: checkoutAddress }),
  }),
});

export type CreationRequest = z.infer<typeof creationRequestSchema>;
export type CreationResponse = z.infer<typeof creationResponseSchema>;
