import { mkdirSync } from "node:fs";
import path from "node:path";
import { sqlStore } from "tillkit/sql";
import { secret } from "../../support/kit.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";
import { type Examined } from "./planted-shop.js";

const folder = temporaryFolder();

describe("tillkit doctor, with --app from another folder", () => {
  it("prints commands with paths that lead from this folder to the app's refused webhooks", async () => {
    mkdirSync(path.join(folder.path, "shop", "refused"), { recursive: true });
    folder.write(
      "shop/refused/2026-a-signature_mismatch-1.http",
      "POST / HTTP/1.1\r\nService-Signature: 00\r\n\r\n{}",
    );
    const env = { TILLKIT_WEBHOOK_SECRET: secret, TILLKIT_KEEP_REFUSED: "refused" };
    const cwd = folder.path;
    const { stdout } = await runCli(["doctor", "--app", "shop"], { env, cwd });
    const commands = [...stdout.matchAll(/npx tillkit (verify --last --kept (\S+))$/gm)];
    expect(commands.map(([, , directory]) => directory)).toEqual(Array(3).fill("shop/refused"));
    const verified = await runCli(commands[0]![1]!.split(" "), { env, cwd });
    expect(verified.stdout).toContain("signature_malformed");
  });

  it("starts the paths of variables in the app's folder, and the paths of options in this folder", async () => {
    const cwd = folder.path;
    mkdirSync(path.join(cwd, "shop"), { recursive: true });
    folder.write("shop/shop.db", "This is no database. ".repeat(40));
    folder.write("shop/a-file", "");
    const here = sqlStore(path.join(cwd, "here.db"));
    await here.migrate();
    await here.close();
    const env = { TILLKIT_WEBHOOK_SECRET: secret, TILLKIT_DATABASE: "shop.db", TILLKIT_SPOOL: "./a-file" };
    const examine = async (...argv: string[]) => {
      const ran = await runCli(["doctor", ...argv, "--json"], { env, cwd });
      const { findings }: Examined = documentOf(ran);
      return findings.map(({ code }) => code);
    };
    expect(await examine("--app", "shop")).toEqual(["store_unavailable"]);
    expect(await examine("--app", "shop", "--store", "here.db")).toEqual(["spool_unavailable"]);
    // Without --app, this folder has neither the database nor the file.
    expect(await examine()).toEqual([]);
    expect(await examine("--store", "here.db")).toEqual([]);
  });

  it("does not accept a file as the app's folder", async () => {
    folder.write("a-file", "");
    const ran = await runCli(["doctor", "--app", "a-file"], { cwd: folder.path });
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining("There is no folder") });
  });

  it("does not say that no webhook is kept if it cannot read the folder", async () => {
    folder.write("a-file", "");
    const env = { TILLKIT_WEBHOOK_SECRET: secret, TILLKIT_KEEP_REFUSED: "a-file" };
    const { stdout } = await runCli(["doctor", "--json"], { env, cwd: folder.path });
    expect(stdout).toMatch(/kept in a-file; the directory cannot be read.*ENOTDIR/);
    expect(stdout).not.toContain("no webhook is kept yet");
  });
});
