import express, { type Router } from "express";
import { developerPage } from "./developer-page.js";
import { type Desk } from "../context.js";
import { onForm } from "../form.js";
import { showPage } from "../show-page.js";

/** `/developer`: the credentials, and the access tokens. */
export function developer(desk: Desk): Router {
  const { sandbox } = desk;
  const router = express.Router();
  const show = showPage(desk, developerPage);

  router.get("/", (req, res) => show(req, res));
  router.post(
    "/tokens/revoke",
    onForm(
      desk,
      (typed) => {
        if (!typed.has("id")) {
          sandbox.revokeAccessTokens();
          return "/developer?done=revoked-all";
        }
        sandbox.revokeAccessTokens(typed.text("id"));
        return "/developer?done=revoked";
      },
      show,
    ),
  );
  return router;
}
