import { type Router } from "express";
import { type DashboardContext } from "../context.js";
import { places } from "../dashboard-page.js";
import { pageRoutes } from "../form.js";
import { developerPage } from "./developer-page.js";

/** Returns the routes of `/developer`: the credentials, and the access tokens. */
export function developer(context: DashboardContext): Router {
  return pageRoutes(context, "/", developerPage, {
    "/tokens/revoke": (input) => {
      const id = input.get("id") ?? undefined;
      context.sandbox.revokeAccessTokens(id);
      return `${places.developer}?done=${id === undefined ? "revoked-all" : "revoked"}`;
    },
  });
}
