import { type Dialect } from "../driver/dialect.js";

/** The names of the kit's tables under one prefix. */
export interface Tables {
  payments: string;
  webhooks: string;
  events: string;
  handlers: string;
  dispatches: string;
  resolutions: string;
  notes: string;
  meta: string;
  prefix: string;
}

/** The parameters of the kit's statements: the dialect, and the names of the tables. */
export interface Database {
  dialect: Dialect;
  tables: Tables;
}

/** Returns the names of the kit's tables with this prefix. */
export function tablesUnder(prefix: string): Tables {
  return {
    payments: `${prefix}payments`,
    webhooks: `${prefix}webhooks`,
    events: `${prefix}events`,
    handlers: `${prefix}handlers`,
    dispatches: `${prefix}dispatches`,
    resolutions: `${prefix}resolutions`,
    notes: `${prefix}notes`,
    meta: `${prefix}meta`,
    prefix,
  };
}
