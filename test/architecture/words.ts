/** Words that HOUSE rules replace by a standard term, as a pattern, with the term. */
export interface ReplacedWord {
  pattern: RegExp;
  use: string;
  /** Only files whose path begins so are searched. */
  under?: string;
  /** Files whose path begins so are left out: there the word has its everyday meaning. */
  except?: readonly string[];
}

export const replacedWords: readonly ReplacedWord[] = [
  { pattern: /\blanes?\b|[a-z]Lanes?\b/, use: "pipelined connection" },
  { pattern: /together/i, use: "pipeline, or: in one transaction, in one statement" },
  { pattern: /\b(begin|begins|begun)[ -]?ahead\b|beginAhead/i, use: "begin with the first statement" },
  { pattern: /\bcommits?[ -]?behind\b|commitBehind/i, use: "commit with the last statement" },
  { pattern: /\b(lock|save)[ -]?alone/i, use: "lockSync, saveSync" },
  { pattern: /\bat once\b|[aA]tOnce/, use: "synchronous, immediately, in one call" },
  { pattern: /\bTurns?\b|\bturns\b/, use: "semaphore, iterations of the event loop" },
  { pattern: /\bPace\b|\bpace\b/, use: "rate limiter" },
  { pattern: /(?<!as )\bsoon\b(?! as)/, use: "withTimeout, shortly" },
  { pattern: /\broom\b|\bRoom\b/, use: "quota, space" },
  {
    pattern: /\btextOf\w*|\bText[s]?Of\b|\btexts\b|\bText of\b|\bwords\b/,
    use: "SQL statements, translations",
  },
  { pattern: /\b(most|longest|deepest)[A-Z]\w*/, use: "max…" },
  { pattern: /\bpatients?\b|\bpatience\b/i, use: "input, subject, timeout" },
  { pattern: /\bdesk\b|\bDesk\b|desk-/, use: "dashboard context", under: "src/sandbox/" },
  {
    pattern: /\bkeepWhole\b|\bresumeWhole\b|\bwhole(?=[ ,:.;)])(?! number)/,
    use: "saved state",
    under: "src/sandbox/",
  },
  { pattern: /\bbegun\b/i, use: "started" },
  { pattern: /\btell[A-Z]\w*|\btell-[a-z]+/, use: "print…, report…" },
  { pattern: /\bjudge(s|d|ment|[A-Z]\w*|-[a-z]+)?\b|\bjudging\b/i, use: "check, decide" },
  { pattern: /\bmisused\b/i, use: "throwMisuse" },
  { pattern: /\bcompany\b/i, use: "batch", under: "src/" },
  { pattern: /\blone\b(?! surrogate| high| low)|\blone[A-Z]\w*/i, use: "single item" },
  { pattern: /\bmend(s|ed|ing)?\b/i, use: "fix" },
  { pattern: /\bdemand(s|ed)?\b/i, use: "check, require" },
  {
    pattern: /\*\s+Answers\b|\banswers (a|the|an|with|whether|how|what) .*(function|call)\b/,
    use: "returns",
  },
  { pattern: /\bthe books\b|\bBooks\b/, use: "stored payments", except: ["docs/statement.md"] },
  { pattern: /\bwhoever\b/i, use: "a named subject" },
  { pattern: /\*\s+The same\b/, use: "a doc comment that names its subject" },
];
