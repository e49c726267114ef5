import fc from "fast-check";
import { testSeed } from "./test-seed.js";

// What fails prints its seed and its path, whichever seed it was.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: testSeed() });

export { fc };
