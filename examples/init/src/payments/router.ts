import { paymentRouter } from "tillkit";
import { fulfilOrder } from "./fulfil-order.js";

// All options come from the TILLKIT_… variables, see .env.example.
export const router = paymentRouter();
export const { payments } = router;

payments.onPaymentCompleted(fulfilOrder);
