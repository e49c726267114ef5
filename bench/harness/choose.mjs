/** Returns the suites with each contender that is the kit twice, the second time with the code in the folder `kit`. */
export function besides(suites, { name, kit }) {
  const both = (one) =>
    one.name.startsWith("tillkit")
      ? [one, { ...one, name: `${one.name} (${name})`, of: one.name, kit }]
      : [one];
  return suites.map((suite) => ({ ...suite, contenders: suite.contenders.flatMap(both) }));
}

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
