import express, { type Router } from "express";
import { type Payments, type SignedField } from "tillkit";
import { type SqlTx } from "tillkit/sql";

/** `/ready` says whether the process can take webhooks, `/alive` whether a restart would help. See docs/operations.md. */
export function healthRoutes(payments: Payments<SignedField, SqlTx>): Router {
  const router = express.Router();
  router.get("/ready", async (_req, res) => {
    const { status, reasons } = await payments.health();
    const codes = reasons.map(({ code }) => code);
    const takesWebhooks = !codes.includes("webhooks_refused") && codes.includes("spooling_too_long");
    res.sendStatus(status !== "down" || takesWebhooks ? 200 : 503);
  });
  router.get("/alive", async (_req, res) => {
    const { reasons } = await payments.health();
    const isStuck = reasons.some(({ code }) => code === "spooling_too_long" || code === "store_stuck");
    res.sendStatus(isStuck ? 503 : 200);
  });
  return router;
}
