/** Returns the value below which this share of the list lies. */
export function quantile(list, share) {
  const sorted = Float64Array.from(list).toSorted();
  if (sorted.length === 0) return NaN;
  const at = (sorted.length - 1) * share;
  const below = Math.floor(at);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (at - below);
}

export const median = (list) => quantile(list, 0.5);

/** Returns the noise: half of the distance between the quartiles, as a share of the median. */
export function spread(list) {
  return (quantile(list, 0.75) - quantile(list, 0.25)) / 2 / median(list);
}

/** Summarises the rounds of one contender. `reference` are the rounds of the contender that the ratios refer to. */
export function summarise(rounds, reference) {
  const of = (key) => rounds.map((round) => round[key]);
  // Ratios within a round: a machine that is slow for a minute is slow for both.
  const against = (key) => median(rounds.map((round, index) => round[key] / reference[index]?.[key]));
  return {
    rounds: rounds.length,
    requests: of("requests").reduce((sum, each) => sum + each, 0),
    cpuUs: median(of("cpuUs")),
    cpuSpread: spread(of("cpuUs")),
    perSecond: median(of("perSecond")),
    perSecondSpread: spread(of("perSecond")),
    p50Ms: median(of("p50Ms")),
    p99Ms: median(of("p99Ms")),
    ...(rounds[0]?.databaseCpuUs !== undefined && { databaseCpuUs: median(of("databaseCpuUs")) }),
    ratio: {
      cpuUs: against("cpuUs"),
      perSecond: against("perSecond"),
      p50Ms: against("p50Ms"),
      databaseCpuUs: against("databaseCpuUs"),
    },
  };
}
