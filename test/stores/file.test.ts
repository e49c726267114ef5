import { storeTests } from "./support/store-tests.js";

storeTests({ name: "a store in a file", module: "file.ts", processes: 1 });
