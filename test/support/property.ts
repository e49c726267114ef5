import fc from "fast-check";
import { testSeed } from "./test-seed.js";

// A failing test prints its seed and its path.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: testSeed() });

export { fc };
