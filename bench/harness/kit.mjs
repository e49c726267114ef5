import path from "node:path";
import { pathToFileURL } from "node:url";

/** The built kit: `dist`, or the folder that TILLKIT_BENCH_KIT names. */
const folder = process.env.TILLKIT_BENCH_KIT ?? path.resolve(import.meta.dirname, "../../dist/esm");
const load = (file) => import(pathToFileURL(path.join(folder, file)).href);

export const kit = { ...(await load("index.js")), ...(await load("store/sql/index.js")) };
