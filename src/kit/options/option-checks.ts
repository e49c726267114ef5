import { types } from "node:util";
import { returnTranslations } from "../../checkout/return-translations.js";
import { type ConfigurationProblem } from "../../errors/index.js";
import { isProduction } from "../../shared/is-production.js";
import { suggestion, unknownOptions } from "../../shared/unknown-names.js";
import { isWholeNumber } from "../../shared/whole-number.js";
import { type PaymentStore } from "../../store/index.js";
import { storeMethods } from "./store-methods.js";
import { checkCoverage } from "../../webhook/signature/index.js";
import { type SignatureScheme } from "../../webhook/signature/scheme.js";
import { type KeepRefusedOptions, type PaymentsOptions } from "./options.js";

/** The values on which the check of an option may depend. */
export interface AllOptions {
  options: PaymentsOptions;
  environment: NodeJS.ProcessEnv;
  /** The paths of the router, with the defaults filled in. */
  paths: Readonly<Record<string, unknown>>;
}

/** Returns the problems of an option's value. The value may be `undefined`. */
export type OptionCheck = (option: string, value: unknown, all: AllOptions) => ConfigurationProblem[];

function invalid(option: string, message: string): ConfigurationProblem[] {
  return [{ code: "option_invalid", option, message }];
}

function missing(option: string, message: string): ConfigurationProblem[] {
  return [{ code: "option_missing", option, message }];
}

export const wholeNumber =
  (max: number): OptionCheck =>
  (option, value) =>
    value === undefined || isWholeNumber(value, 1, max)
      ? []
      : invalid(option, `must be a whole number from 1 to ${max}.`);

export const isFunction: OptionCheck = (option, value) =>
  value === undefined || typeof value === "function" ? [] : invalid(option, "must be a function.");

/** Refuses a clock that returns no valid time, because each webhook and creation would then fail. */
export const timeFunction: OptionCheck = (option, value, all) => {
  if (typeof value !== "function") return isFunction(option, value, all);
  const now = (value as () => unknown)();
  return types.isDate(now) && !Number.isNaN(now.getTime())
    ? []
    : invalid(option, "must return a valid Date.");
};

export const matching =
  (pattern: RegExp, form: string): OptionCheck =>
  (option, value) =>
    value === undefined || (typeof value === "string" && pattern.test(value)) ? [] : invalid(option, form);

export const group: OptionCheck = (option, value) =>
  value === undefined || isGroup(value) ? [] : invalid(option, "must be an object of options.");

export const groupOrFalse: OptionCheck = (option, value) =>
  value === undefined || value === false || isGroup(value)
    ? []
    : invalid(option, "must be an object of options, or false.");

export const logger: OptionCheck = (option, value) => {
  const { child, isLevelEnabled } = Object(value) as Partial<Record<string, unknown>>;
  const isLogger = typeof child === "function" && typeof isLevelEnabled === "function";
  return !value || isLogger ? [] : invalid(option, "must be a pino logger, or false for no log.");
};

export const signature: OptionCheck = (option, value) => {
  if (!value)
    return missing(
      option,
      "is not set; use hmacSignature, fieldsSignature or publicKeySignature. It cannot be left out.",
    );
  const scheme = value as SignatureScheme;
  if (typeof scheme.verify !== "function" || typeof scheme.header !== "string" || scheme.header === "")
    return invalid(option, "must have a header and a verify function.");
  return checkCoverage(scheme);
};

export const store: OptionCheck = (option, value, { environment }) => {
  if (!value)
    return missing(option, 'is not set; sqliteStore("shop.db") of tillkit/sql is a good first one.');
  const store = value as PaymentStore;
  const lacking = storeMethods.filter((method) => typeof store[method] !== "function");
  if (lacking.length > 0)
    return invalid(
      option,
      `must have the methods ${lacking.join(", ")}. Make it with sqliteStore, postgresStore or mysqlStore of tillkit/sql, ` +
        "or over a database of your own with storeOver.",
    );
  if (store.durable || !isProduction(environment)) return [];
  const message = "loses its data at exit, and NODE_ENV is production; use a store that is durable.";
  return [{ code: "store_not_durable", option, message }];
};

const returnPlaceholders = ["reference", "clientId"];

/** Returns the problems of a return address. The address must not be a script, and its host must be fixed. */
export const returnAddress: OptionCheck = (option, address) => {
  if (address === undefined) return [];
  const used = typeof address === "string" ? [...address.matchAll(/\{(\w*)\}/g)] : [];
  const unknown = used.find(([, name = ""]) => !returnPlaceholders.includes(name));
  if (unknown) {
    const meant = suggestion(
      unknown[0],
      returnPlaceholders.map((name) => `{${name}}`),
    );
    return invalid(option, `has the placeholder ${unknown[0]}, which is not known. ${meant}`);
  }
  if (typeof address === "string" && isReturnAddress(address)) return [];
  return invalid(
    option,
    "must be a path such as /orders/{reference}, or an absolute http(s) address with a fixed host.",
  );
};

function isReturnAddress(address: string): boolean {
  // A header cannot contain control characters, or half of a surrogate pair.
  if (/[\s\p{Cc}\p{Surrogate}]/u.test(address)) return false;
  return /^\/(?![/\\])[^\s\\]*$/.test(address) || /^https?:\/\/[^\s\\{}/?#@]+([/?#][^\s\\]*)?$/.test(address);
}

/** Returns the problems of one of the router's paths. Express would read other characters as a pattern. */
export const path: OptionCheck = (option, _value, { paths }) => {
  const name = option.slice("paths.".length);
  const path = paths[name];
  if (!isPath(path))
    return invalid(option, "must be a path such as /pay/webhook: letters, digits, . _ and -");
  const isWithin = (other: unknown) => isPath(other) && isBelow(path, other);
  const above = Object.keys(paths).find((one) => one !== name && isWithin(paths[one]));
  return above ? invalid(option, `must not be the same as paths.${above}, nor below it.`) : [];
};

function isPath(path: unknown): path is string {
  return typeof path === "string" && /^(\/(?!\.+(\/|$))[A-Za-z0-9._-]+)+$/.test(path);
}

/** Returns whether `path` is `other`, or is below `other`. Ignores capitals, as Express does. */
function isBelow(path: string, other: string): boolean {
  return `${path}/`.toLowerCase().startsWith(`${other}/`.toLowerCase());
}

export const directory: OptionCheck = (option, given, { options }) => {
  // If the spool is not an object, its own check refuses it.
  if (!isGroup(options.spool)) return [];
  const directory: unknown = given === undefined ? options.store?.spoolDirectory : given;
  if (typeof directory === "string" && directory.trim() !== "") return [];
  return missing(
    option,
    "must name a local directory; leave the spool out, or set it to false, to have none.",
  );
};

export const failures: OptionCheck = (option, value) => {
  if (value === undefined || value === false || isObject(value)) return [];
  return invalid(option, "must be { perMinute, burst }, or false for no limit.");
};

export const keepRefused: OptionCheck = (option, value, { environment }) => {
  if (value === undefined) return [];
  const given: Partial<KeepRefusedOptions> =
    typeof value === "object" ? { ...value } : { directory: value as string };
  const { directory, inProduction = false, ...others } = given;
  if (typeof directory !== "string" || directory.trim() === "" || typeof inProduction !== "boolean")
    return invalid(option, "must name a local directory, or be { directory, inProduction: true }.");
  if (inProduction || !isProduction(environment)) return unknownOptions(`${option}.`, others, {});
  return invalid(
    option,
    "keeps what webhooks say about customers, and NODE_ENV is production; add inProduction: true while you look for the cause.",
  );
};

export const lookup: OptionCheck = (option, value) => {
  if (value === undefined || typeof value === "boolean" || isObject(value)) return [];
  return invalid(option, "must be true, false, or an object of options.");
};

export const confirm: OptionCheck = (option, value, { options }) => {
  if (value === undefined) return [];
  if (value !== "lookup") return invalid(option, 'must be "lookup", or left out.');
  if (options.lookup) return [];
  return invalid(option, 'is "lookup", and nothing is looked up: set lookup: true, or leave confirm out.');
};

/** Returns one problem for each language, with all keys that are missing, unknown or unusable. */
export const languageTables: OptionCheck = (option, value) => {
  if (value === undefined) return [];
  if (!isObject(value))
    return invalid(option, "must be an object: all translations by the code of the language.");
  return Object.entries(value).flatMap(([language, table]) => {
    const wrong = /^[a-z]{2,3}$/.test(language)
      ? translationProblems(new Map(translationsBelow(table)))
      : ["two or three small letters name a language, such as sw"];
    return wrong.length > 0 ? invalid(`${option}.${language}`, `is not usable: ${wrong.join("; ")}.`) : [];
  });
};

function translationProblems(given: ReadonlyMap<string, unknown>): string[] {
  const own = new Map(translationsBelow(returnTranslations.en));
  const usable = (text: unknown): text is string => typeof text === "string" && /^\P{Cc}{1,500}$/u.test(text);
  const keys = [...own.keys()].filter((key) => given.has(key));
  const lists = {
    "it lacks": [...own.keys()].filter((key) => !given.has(key)),
    "nothing shows": [...given.keys()].filter((key) => !own.has(key)),
    "these need 1 to 500 characters": keys.filter((key) => !usable(given.get(key))),
    "these need {order}": keys.filter(
      (key) => String(own.get(key)).includes("{order}") && !String(given.get(key)).includes("{order}"),
    ),
  };
  return Object.entries(lists).flatMap(([what, names]) =>
    names.length > 0 ? `${what} ${names.join(", ")}` : [],
  );
}

/** Returns the entries of a table and of the tables in it, by their paths. */
function translationsBelow(table: unknown, above = ""): [string, unknown][] {
  if (!isObject(table)) return [[above || "all", table]];
  return Object.entries(table).flatMap(([name, entry]) => {
    const path = above === "" ? name : `${above}.${name}`;
    // A table has two levels at most.
    return isObject(entry) && above === ""
      ? translationsBelow(entry, path)
      : [[path, entry] as [string, unknown]];
  });
}

function isGroup(value: unknown): value is object {
  return isObject(value) && !Array.isArray(value);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
