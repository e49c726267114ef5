import { newId } from "../../src/shared/new-id.js";

describe("an id of the kit", () => {
  it("is a UUID of version 7", () => {
    expect(newId()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it("begins with the time, so that later ids follow earlier ones in an index", () => {
    jest.useFakeTimers({ now: new Date("2026-11-20T10:00:00.000Z") });
    const first = newId();
    expect(Number.parseInt(first.replaceAll("-", "").slice(0, 12), 16)).toBe(Date.now());
    jest.setSystemTime(Date.now() + 1);
    expect(newId() > first).toBe(true);
    jest.useRealTimers();
  });

  it("is unique, however fast ids are made", () => {
    expect(new Set(Array.from({ length: 10_000 }, newId)).size).toBe(10_000);
  });
});
