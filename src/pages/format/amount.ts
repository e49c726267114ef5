/**
 * An amount for people: separators of the language, the decimals of the currency, and never a digit less than the
 * payment has. The code is shown apart, so that no symbol can be mistaken for another currency's.
 */
export function formatAmount(value: string, currency: string, language: string): string {
  const [whole = "", decimals = ""] = value.split(".");
  const digits = Math.max(decimals.replace(/0+$/, "").length, customaryDigits(currency));
  // The whole part as a BigInt: a number could not hold sixteen digits and four decimals.
  const grouped = new Intl.NumberFormat(language).format(BigInt(whole));
  if (digits === 0) return grouped;
  return grouped + decimalSeparator(language) + decimals.slice(0, digits).padEnd(digits, "0");
}

function customaryDigits(currency: string): number {
  return (
    new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits ?? 2
  );
}

function decimalSeparator(language: string): string {
  return new Intl.NumberFormat(language).formatToParts(0.5).find(({ type }) => type === "decimal")!.value;
}
