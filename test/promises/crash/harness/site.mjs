import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { addressFor } from "./addresses.mjs";
import { Database } from "./database.mjs";
import { ModuleDatabase } from "./module-database.mjs";

/** The resources of one run outside of its processes: a folder, a database, the spool and the log of effects. */
export async function openSite({ kit, kind, module, mode, disk }) {
  const folder = mkdtempSync(path.join(tmpdir(), "tillkit-crash-"));
  const leave = () => rmSync(folder, { recursive: true, force: true });
  let place;
  try {
    place = await addressFor({ kind, module, mode, folder, disk });
  } catch (error) {
    leave();
    throw error;
  }
  const effects = path.join(folder, "effects.log");
  writeFileSync(effects, "");
  // The spool is on the full disk too. A webhook that is then answered 200 is lost.
  const spool = path.join(place.disk?.folder ?? folder, "spool");
  const database = new (module ? ModuleDatabase : Database)(kit, place.address);
  return {
    database,
    effects,
    spool,
    server: place.server,
    disk: place.disk,
    /** Returns the webhooks that wait in the spool, and those that it set aside. */
    spooled: () => filesOf(spool).filter((name) => name.endsWith(".spool")),
    setAside: () => filesOf(path.join(spool, "set-aside")),
    async remove() {
      // One by one: a server that is down must not prevent the removal of the folder.
      if (!place.server && !place.disk) await database.drop().catch(() => {});
      await database.close().catch(() => {});
      await Promise.resolve(place.remove()).catch(() => {});
      leave();
    },
  };
}

function filesOf(folder) {
  return existsSync(folder) ? readdirSync(folder) : [];
}
