/**
 * The month of the newest change of ISO 4217 in the table below, which is the end of Bulgaria's lev on 1
 * January 2026. The source is the public list datasets/currency-codes, revision ab9b0ae8, without withdrawn
 * codes. `Intl` cannot replace the table, because its customary digits differ from ISO 4217 for some
 * currencies.
 */
export const currenciesAsOf = "2026-01";

/** Currency codes by the number of decimals. "none" means that the standard gives no number, as for gold. */
const codes: Readonly<Record<"0" | "2" | "3" | "4" | "none", string>> = {
  0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
  2: `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY
    COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR
    IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD
    NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP
    SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG`,
  3: "BHD IQD JOD KWD LYD OMR TND",
  4: "CLF UYW",
  none: "XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX",
};

const minorUnitByCode = new Map(
  Object.entries(codes).flatMap(([unit, list]) =>
    list.split(/\s+/).map((code) => [code, unit === "none" ? undefined : Number(unit)] as const),
  ),
);

/** Every code of the table, sorted. */
export const activeCurrencies: readonly string[] = [...minorUnitByCode.keys()].toSorted();

/**
 * Returns the number of decimals of the currency: 0 for KMF, 2 for EUR. Returns `undefined` for a currency
 * without a minor unit, and for a code that is not in the table, which may be a newer currency.
 */
export function minorUnit(currency: string): number | undefined {
  return minorUnitByCode.get(currency);
}
