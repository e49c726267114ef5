import { getEventListeners } from "node:events";
import { anySignal } from "../../src/shared/with-timeout.js";

const listeners = (signal: AbortSignal) => getEventListeners(signal, "abort").length;

describe("a signal of several others", () => {
  it.each([0, 1])("aborts when number %d of them aborts, with its reason", (index) => {
    const controllers = [new AbortController(), new AbortController()];
    const { signal } = anySignal(controllers.map((each) => each.signal));
    expect(signal.aborted).toBe(false);
    controllers[index]!.abort("enough");
    expect(signal).toMatchObject({ aborted: true, reason: "enough" });
  });

  it("has aborted from the beginning where one of them has", () => {
    const { signal } = anySignal([new AbortController().signal, AbortSignal.abort("before")]);
    expect(signal).toMatchObject({ aborted: true, reason: "before" });
  });

  it("leaves no listener in them once it is released, and does not abort any more", () => {
    const controller = new AbortController();
    const { signal, release } = anySignal([controller.signal]);
    expect(listeners(controller.signal)).toBe(1);
    release();
    expect(listeners(controller.signal)).toBe(0);
    controller.abort();
    expect(signal.aborted).toBe(false);
  });

  it("gives no warning where many requests listen to one of them", () => {
    const warn = jest.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    const { signal: closing } = new AbortController();
    for (let n = 0; n < 20; n++) anySignal([closing]);
    expect(listeners(closing)).toBe(20);
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });
});
