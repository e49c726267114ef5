import { accessTokenProblems } from "../../service/access-token.js";
import { addressProblems, timeoutProblems } from "../../service/service-options.js";
import { maxTimerMs } from "../../shared/whole-number.js";
import { withoutUndefined } from "../../shared/without-undefined.js";
import * as check from "./option-checks.js";
import { type FailureOptions, type PaymentsOptions } from "./options.js";
import * as read from "./read-variables.js";

/** One option. The doc comment of the option's field is its documentation. */
export interface OptionRow<Value = unknown> {
  /** The variable that sets the option. */
  variable?: string;
  /** Converts the variable's text to the option's value. By default, the text is the value. */
  parse?: (text: string, option: string) => Value;
  /** Returns the value for an option that several variables set. */
  make?: (environment: read.Environment) => Value;
  default?: Exclude<Value, undefined>;
  check?: check.OptionCheck;
}

/** The options of a group, by their paths, such as `webhook.limitBytes`. */
type Inside<Path extends string, Group> = {
  [Name in keyof Group & string as `${Path}.${Name}`]-?: Group[Name];
};
type In<Name extends keyof PaymentsOptions> = Inside<
  Name,
  Exclude<PaymentsOptions[Name], boolean | undefined>
>;

type Values = Required<PaymentsOptions> &
  In<"service"> &
  In<"paths"> &
  In<"webhook"> &
  Inside<"webhook.failures", FailureOptions> &
  In<"spool"> &
  In<"health"> &
  In<"returns"> &
  In<"dispatch"> &
  In<"lookup">;

const whole = (value: number, max: number) => ({ default: value, check: check.wholeNumber(max) });
const count = (value: number) => whole(value, Number.MAX_SAFE_INTEGER);
const timer = (ms: number) => whole(ms, maxTimerMs);
/** Returns the row of a duration. The limit of 100 years keeps all times within the range of Date. */
const duration = (ms: number) => whole(ms, 36_525 * 24 * 60 * 60 * 1000);

const address: check.OptionCheck = (option, value) => addressProblems(option, value);
const label = check.matching(
  /^\P{Cc}{1,200}$/u,
  "must be a string: 1 to 200 characters without control characters.",
);

const colour = check.matching(/^#[\da-f]{6}$/i, "must be a string: a colour in the form #0b6650.");

/** Every option of the kit with its variable, default and check, in the order of docs/options.md. */
export const optionTable = {
  publicUrl: { variable: "TILLKIT_PUBLIC_URL", check: address },
  service: {},
  "service.baseUrl": { variable: "TILLKIT_SERVICE_URL", check: address },
  "service.accessToken": { make: read.accessTokenFrom, check: accessTokenProblems },
  "service.timeoutMs": { default: 10_000, check: timeoutProblems },
  "service.fetch": { check: check.isFunction },
  signature: { make: read.signatureFrom, check: check.signature },
  store: { make: read.storeFrom, check: check.store },
  paths: { check: check.group },
  "paths.webhook": { default: "/webhook", check: check.path },
  "paths.success": { default: "/success", check: check.path },
  "paths.cancel": { default: "/cancel", check: check.path },
  webhook: { check: check.group },
  "webhook.limitBytes": count(64 * 1024),
  "webhook.recordTimeoutMs": timer(3000),
  "webhook.bodyTimeoutMs": timer(10_000),
  "webhook.failures": { check: check.failures },
  // If the secret is wrong, the first `burst` webhooks get 401, and then `perMinute` webhooks a minute.
  "webhook.failures.perMinute": count(60),
  "webhook.failures.burst": count(100),
  "webhook.keepRefused": {
    variable: "TILLKIT_KEEP_REFUSED",
    parse: read.keepRefusedFrom,
    check: check.keepRefused,
  },
  spool: { variable: "TILLKIT_SPOOL", parse: read.spoolFrom, check: check.groupOrFalse },
  "spool.directory": { check: check.directory },
  "spool.maxBytes": count(64 * 1024 * 1024),
  health: { check: check.group },
  "health.spoolingDownAfterMs": duration(5 * 60 * 1000),
  returns: { check: check.group },
  "returns.backUrl": { variable: "TILLKIT_BACK_URL", check: check.returnAddress },
  "returns.orderUrl": { variable: "TILLKIT_ORDER_URL", check: check.returnAddress },
  "returns.payAgainUrl": { variable: "TILLKIT_PAY_AGAIN_URL", check: check.returnAddress },
  "returns.successUrl": { variable: "TILLKIT_SUCCESS_URL", check: check.returnAddress },
  "returns.cancelUrl": { variable: "TILLKIT_CANCEL_URL", check: check.returnAddress },
  "returns.shopName": { variable: "TILLKIT_SHOP_NAME", check: label },
  "returns.logoUrl": {
    variable: "TILLKIT_LOGO_URL",
    // The origin of the address becomes a part of the Content-Security-Policy.
    check: check.matching(
      /^(https:\/\/[\w.-]+(:\d{1,5})?)?\/(?![/\\])[^\s\\\p{Cc}]*$/u,
      "must be a string: an https address, or a path such as /logo.svg on the shop's host.",
    ),
  },
  "returns.accent": { variable: "TILLKIT_ACCENT", check: colour },
  "returns.background": { variable: "TILLKIT_BACKGROUND", check: colour },
  "returns.contact": { variable: "TILLKIT_CONTACT", check: label },
  "returns.backLabel": { variable: "TILLKIT_BACK_LABEL", check: label },
  "returns.translations": { check: check.languageTables },
  "returns.render": { check: check.isFunction },
  dispatch: { check: check.groupOrFalse },
  "dispatch.concurrency": count(8),
  "dispatch.pollMs": timer(1000),
  "dispatch.leaseMs": timer(5000),
  "dispatch.handlerTimeoutMs": timer(30_000),
  "dispatch.maxLostLeases": count(10),
  "dispatch.maxFailures": count(12),
  "dispatch.firstDelayMs": duration(1000),
  "dispatch.maxDelayMs": duration(60 * 60 * 1000),
  reuseForMs: duration(15 * 60 * 1000),
  overdueMs: duration(24 * 60 * 60 * 1000),
  sweepMs: timer(60 * 1000),
  unmatchedAfterMs: duration(5 * 60 * 1000),
  attentionReminderMs: duration(24 * 60 * 60 * 1000),
  clientIdPrefix: {
    variable: "TILLKIT_CLIENT_ID_PREFIX",
    check: check.matching(
      /^[A-Za-z0-9._:-]{1,24}$/,
      "must be 1 to 24 characters of A-Z a-z 0-9 . _ : -, or left out.",
    ),
  },
  lookup: { variable: "TILLKIT_LOOKUP", parse: read.onOrOff, check: check.lookup },
  "lookup.afterMs": duration(2 * 60 * 1000),
  "lookup.maxDelayMs": duration(6 * 60 * 60 * 1000),
  "lookup.giveUpAfterMs": duration(3 * 24 * 60 * 60 * 1000),
  "lookup.perSecond": whole(5, 10_000),
  "lookup.afterReturnMs": timer(3000),
  "lookup.timeoutMs": timer(10_000),
  // The check refuses any other text.
  confirm: { variable: "TILLKIT_CONFIRM", parse: (text) => text as "lookup", check: check.confirm },
  logger: {
    variable: "TILLKIT_LOG",
    parse: (text, option) => (read.onOrOff(text, option) ? undefined : false),
    check: check.logger,
  },
  now: { default: () => new Date(), check: check.timeFunction },
} satisfies { readonly [Name in keyof Values]: OptionRow<Values[Name]> };

/** All rows of the table, with their paths. */
export const optionRows: readonly (readonly [string, OptionRow])[] = Object.entries<OptionRow>(
  // The types of `parse` and `make` are already checked by the declaration above.
  optionTable as Record<string, OptionRow>,
);

/** Returns the path of the group that contains an option, or `""` for an option at the top. */
export function optionGroupOf(option: string): string {
  return option.slice(0, Math.max(0, option.lastIndexOf(".")));
}

/** Returns the rows of a group such as `webhook.failures`, by the names of the options. */
export function optionsIn(group: string): Readonly<Record<string, OptionRow>> {
  const own = optionRows.filter(([option]) => optionGroupOf(option) === group);
  return Object.fromEntries(own.map(([option, row]) => [option.slice(option.lastIndexOf(".") + 1), row]));
}

/** A group of options with the defaults filled in. */
export type WithDefaults<Options> = { [Name in keyof Options]-?: Exclude<Options[Name], undefined> };

/** Returns a copy of a group of options. Reads each option once, including accessors of a class. */
export function readGroup<Options extends object>(group: string, given: Options): Options {
  const names = new Set([...Object.keys(given), ...Object.keys(optionsIn(group))]);
  return Object.fromEntries([...names].map((name) => [name, given[name as keyof Options]])) as Options;
}

/** Returns a group of options in which the defaults replace options that are absent or `undefined`. */
export function fillDefaults<Options extends object>(
  group: string,
  given: Options | undefined,
): WithDefaults<Options> {
  const defaults = Object.entries(optionsIn(group)).map(([name, row]) => [name, row.default]);
  return {
    ...withoutUndefined(Object.fromEntries(defaults) as object),
    ...withoutUndefined(readGroup(group, given ?? {})),
  } as WithDefaults<Options>;
}
