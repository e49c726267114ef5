import { mkdirSync } from "node:fs";
import path from "node:path";
import { secret } from "../../support/kit.js";
import { runCli, temporaryFolder } from "../support/run-cli.js";

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

  it("does not say that no webhook is kept if it cannot read the folder", async () => {
    folder.write("a-file", "");
    const env = { TILLKIT_WEBHOOK_SECRET: secret, TILLKIT_KEEP_REFUSED: "a-file" };
    const { stdout } = await runCli(["doctor", "--json"], { env, cwd: folder.path });
    expect(stdout).toMatch(/kept in a-file; the directory cannot be read.*ENOTDIR/);
    expect(stdout).not.toContain("no webhook is kept yet");
  });
});
