/** Returns the suites with the chosen contenders. Each suite keeps its reference, which the ratios need. */
export function choose(suites, { only, peers, without }) {
  return suites.flatMap((suite) => {
    if (without.includes(suite.server)) return [];
    const isAsked = (name) => only.length === 0 || only.some((text) => name.includes(text));
    const able = suite.contenders.filter((one) => peers || !one.peers);
    const contenders = isAsked(suite.name) ? able : able.filter(({ name }) => isAsked(name));
    if (contenders.length === 0) return [];
    const withReference = able.filter((one) => contenders.includes(one) || one.name === suite.reference);
    return [{ ...suite, contenders: withReference }];
  });
}
