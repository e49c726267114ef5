import { MemoryStore } from "tillkit";
import { writeNothing } from "../../../src/webhook/recording/write-nothing.js";

afterEach(() => jest.useRealTimers());

describe("a write that changes nothing", () => {
  it("is one for all callers, and counts as failed after 30 s, so that the next call writes again", async () => {
    const store = new MemoryStore();
    const hanging = jest.spyOn(store, "transaction").mockReturnValueOnce(new Promise(() => {}));
    jest.useFakeTimers();
    const first = writeNothing(store).catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(29_999);
    const second = writeNothing(store).catch((error: unknown) => error);
    expect(hanging).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(1);
    const unavailable = { code: "store_unavailable" };
    expect(await Promise.all([first, second])).toMatchObject([unavailable, unavailable]);
    jest.useRealTimers();
    expect(await writeNothing(store)).toBe(true);
    expect(hanging).toHaveBeenCalledTimes(2);
  });
});
