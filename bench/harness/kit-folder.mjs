import path from "node:path";

const built = path.resolve(import.meta.dirname, "../../dist/cjs");

/** Returns the folder of the built kit: `dist/cjs`, or the one that TILLKIT_BENCH_KIT names. */
export function kitFolder() {
  return path.resolve(process.env.TILLKIT_BENCH_KIT ?? built);
}
