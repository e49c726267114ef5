/**
 * Whether a version lies in a range such as `^20.19.0 || >=24`: carets and `>=`, joined by `||`, as package.json of the kit
 * has them.
 */
export function isInRange(version: string, range: string): boolean {
  return range.split("||").some((one) => {
    const [, operator, least = ""] = /^\s*(\^|>=)\s*([\d.]+)\s*$/.exec(one) ?? [];
    if (compare(version, least) < 0) return false;
    return operator === ">=" || Number.parseInt(version, 10) === Number.parseInt(least, 10);
  });
}

function compare(a: string, b: string): number {
  const [left, right] = [a, b].map((version) =>
    version
      .replace(/[-+].*$/, "")
      .split(".")
      .map(Number),
  );
  for (let index = 0; index < 3; index += 1) {
    const difference = (left?.[index] ?? 0) - (right?.[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
