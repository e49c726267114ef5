import { MemoryStore } from "tillkit";
import { testStore } from "tillkit/testing";
import { testOptions } from "../../support/kit.js";
import { resolveOptions } from "../../../src/options.js";

testStore({ name: "MemoryStore", test: it, create: async () => new MemoryStore() });

describe("MemoryStore", () => {
  it("is refused in production, because it forgets", () => {
    const options = testOptions({ store: new MemoryStore() });
    expect(() => resolveOptions(options, { NODE_ENV: "production" })).toThrow(
      expect.objectContaining({ code: "store_not_durable" }),
    );
  });
});
