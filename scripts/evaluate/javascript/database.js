// SQLite of Node where it has it, and the package of the same interface before Node 22.16.
export const { DatabaseSync } = await import("node:sqlite").catch(() => import("@photostructure/sqlite"));
