import { z } from "zod";
import { isDateTime } from "../shared/date-time.js";
import { parseSecureAddress } from "./service-options.js";

// The fields of sections 2.1, 2.2 and 4.1 of the interface document that the kit sends or reads. Further
// fields are allowed. No decision depends on `captured` and `createdAt`, so they may be absent or have
// another form. The kit does not read the echoed addresses. An answer with such a mistake is about a real
// payment. If the kit refused the answer, the checkout address would be lost.

const total = z.object({
  // The form of all amounts in the kit. Amounts of another form could not be compared.
  value: z.string().regex(/^(0|[1-9]\d{0,15})(\.\d{1,4})?$/),
  currency: z.string().min(1).max(16),
});

/** The form of ids and statuses in webhooks. Webhooks could never match a payment with another form of id. */
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

/** The address for the customer's browser. The address must be https, except on this machine. */
const checkoutAddress = z
  .string()
  .max(2048)
  .refine((text) => parseSecureAddress(text) !== undefined, {
    error: ({ input }) =>
      /^http:/i.test(String(input))
        ? "is plain http on another host than this machine, where anyone on the way could change the page; it must be https"
        : "is not an absolute https address",
  })
  .refine((text) => !hasCredentials(text), { error: "contains a name or a password" });

/** Returns whether the address has a name or a password, which browsers send but do not show. */
function hasCredentials(text: string): boolean {
  const { username = "", password = "" } = parseSecureAddress(text) ?? {};
  return username !== "" || password !== "";
}

/**
 * Envelope of the creation response (interface document, 2.2). `next` should equal `data.billing.submitUrl`.
 * The two addresses may differ, because the document (4.1) sends the customer to `submitUrl`, and the kit
 * does not use `next`.
 */
export const creationResponseSchema = z.object({
  next: z.string().optional(),
  data: z.object({
    id: word,
    status: word,
    purchase: z.object({ total }),
    billing: z.object({ submitUrl: checkoutAddress }),
    captured: z.boolean().optional().catch(undefined),
    createdAt: z.string().refine(isDateTime).optional().catch(undefined),
  }),
});

export type CreationRequest = z.infer<typeof creationRequestSchema>;
