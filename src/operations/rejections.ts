import { type Notices } from "../dispatch/notices.js";

/** The webhooks that this process has refused. */
export interface Rejections {
  /** The number of refused webhooks of each error code, such as `signature_mismatch`. */
  byCode: Readonly<Record<string, number>>;
  /** The number of webhooks that were answered 429, because their address had failed too often. */
  throttled: number;
}

/**
 * Counts the webhooks that this process refuses from now on, and the wrong signatures since the last verified
 * webhook, with their time span.
 */
export function countRejections(listen: Notices["add"], keeper: { readonly verified: number }) {
  const byCode = new Map<string, number>();
  let throttled = 0;
  let wrong = { count: 0, since: 0, spanMs: 0, verified: 0 };
  listen("webhook.rejected", ({ code, status }) => {
    byCode.set(code, (byCode.get(code) ?? 0) + 1);
    if (status === 429) throttled += 1;
    if (code !== "signature_mismatch") return;
    const { count, since } = wrong.verified === keeper.verified ? wrong : { count: 0, since: 0 };
    const first = count === 0 ? performance.now() : since;
    wrong = { count: count + 1, since: first, spanMs: performance.now() - first, verified: keeper.verified };
  });
  return {
    rejections: (): Rejections => ({ byCode: Object.fromEntries(byCode), throttled }),
    mismatches: () => (wrong.verified === keeper.verified ? wrong : { count: 0, spanMs: 0 }),
  };
}
