import path from "node:path";
import { pathToFileURL } from "node:url";
import { kitFolder } from "./kit-folder.mjs";

const load = (file) => import(pathToFileURL(path.join(kitFolder(), file)).href);

export const kit = { ...(await load("index.js")), ...(await load("store/sql/index.js")) };
