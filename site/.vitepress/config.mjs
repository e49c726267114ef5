import { defineConfig } from "vitepress";
import { anchorOf } from "../anchor.mjs";
import { sidebar } from "../.tmp/sidebar.mjs";

/** Pages that are one wide table: they get the width of the list of headings, too. */
const wide = new Set(
  ["options", "events", "doctor", "reconciliation-table"].map((name) => `docs/${name}.md`),
);

export default defineConfig({
  title: "tillkit",
  description: "Express middleware for shops that are paid through a hosted payment service for mobile money",
  base: process.env["TILLKIT_DOCS_BASE"] ?? "/",
  srcDir: ".tmp",
  outDir: "dist",
  cleanUrls: false,
  lastUpdated: false,
  // The anchors are those of a code host, so that the same links work there.
  markdown: { anchor: { slugify: anchorOf } },
  // scripts/docs.mjs follows every link and anchor of the built pages.
  ignoreDeadLinks: true,
  themeConfig: {
    nav: [
      { text: "Start", link: "/docs/start" },
      { text: "Guides", link: "/docs/" },
      { text: "Options", link: "/docs/options" },
      { text: "Errors", link: "/docs/errors" },
      { text: "API", link: "/api/" },
      { text: "Français", link: "/docs/fr/start" },
    ],
    sidebar,
    outline: [2, 3],
    search: { provider: "local" },
  },
  transformPageData(page) {
    if (wide.has(page.relativePath)) page.frontmatter.aside = false;
  },
  transformHtml(code, _file, { page }) {
    return page.startsWith("docs/fr/") ? code.replace('<html lang="en-US"', '<html lang="fr"') : code;
  },
});
