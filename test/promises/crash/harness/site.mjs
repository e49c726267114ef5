import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { addressFor } from "./addresses.mjs";
import { Database } from "./database.mjs";

/** Everything of one run that is outside of processes: a folder, a database, the spool and the log of effects. */
export async function openSite({ kit, kind, mode, disk }) {
  const folder = mkdtempSync(path.join(tmpdir(), "tillkit-crash-"));
  const leave = () => rmSync(folder, { recursive: true, force: true });
  let place;
  try {
    place = await addressFor({ kind, mode, folder, disk });
  } catch (error) {
    leave();
    throw error;
  }
  const effects = path.join(folder, "effects.log");
  writeFileSync(effects, "");
  // On a disk that is filled, the spool has no room either; what is then answered 200 nevertheless is lost.
  const spool = path.join(place.disk?.folder ?? folder, "spool");
  const database = new Database(kit, place.address);
  return {
    database,
    effects,
    spool,
    server: place.server,
    disk: place.disk,
    /** Webhooks that wait in the spool, and those that were set aside there. */
    spooled: () => filesOf(spool).filter((name) => name.endsWith(".spool")),
    setAside: () => filesOf(path.join(spool, "set-aside")),
    async remove() {
      // Each on its own: a server that is down must not keep the folder from being removed.
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
