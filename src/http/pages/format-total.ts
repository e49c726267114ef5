import { type Money } from "../../model/payment.js";
import { type Language } from "./texts.js";

/**
 * An amount for people: the separators of the language, then the code, as checkout pages write it. The digits are
 * those of the value itself: what `Intl` believes about a currency's decimals differs from ISO 4217 for some.
 */
export function formatTotal({ value, currency }: Money, language: Language): string {
  const digits = value.split(".")[1]?.length ?? 0;
  const format = new Intl.NumberFormat(language, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  // As a string: a large amount does not fit a float. A no-break space keeps the code with its number.
  return `${format.format(value as `${number}`)}\u00a0${currency}`;
}
