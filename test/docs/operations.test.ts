import { healthReasonCodes } from "tillkit";
import { read } from "./documents.js";

it("explains every reason of the health, in the order of the codes", () => {
  const section = read("docs/operations.md").split("## Health\n")[1]!.split("\n## ")[0]!;
  const explained = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code);
  expect(explained).toEqual([...healthReasonCodes]);
});
