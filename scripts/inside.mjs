/** The package that becomes part of the build. See docs/adr/0065-zod-is-part-of-the-build.md. */
export const inside = "zod";
