/**
 * Webhooks may be held, or wait for the clock. Whoever ordered them hears of refusals, and waits for the rest no longer
 * than the given patience, so that what is quickly done can be seen at once.
 */
export async function begun(run: () => Promise<unknown>, { patienceMs = 0 } = {}): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    if (patienceMs === 0) setImmediate(resolve);
    else timer = setTimeout(resolve, patienceMs);
  });
  await Promise.race([run(), patience]).finally(() => clearTimeout(timer));
}
