/**
 * What package.json says of the package. Written down here, because neither copy of a dual package can find that file
 * in a way that the other could compile; a test compares the two.
 */
export const packageFacts = {
  version: "0.1.0",
  /** The versions of Node that the kit runs on. */
  node: "^20.19.0 || ^22.14.0 || >=24",
  /** The versions of Express that the router fits. */
  express: "^4.18.0 || ^5.0.0",
} as const;
