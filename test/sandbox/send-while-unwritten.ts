import { setTimeout as delay } from "node:timers/promises";
import { StateFile } from "../../src/sandbox/state/state-file.js";

/** Sends a request while the sandbox cannot write. `isEarly`: the answer came before the write. */
export async function sendWhileUnwritten<T>(
  send: () => PromiseLike<T>,
): Promise<{ isEarly: boolean; answer: T }> {
  let [write, ask] = [(): void => {}, (): void => {}];
  const written = new Promise<void>((resolve) => (write = resolve));
  const asked = new Promise<void>((resolve) => (ask = resolve));
  const flushes = jest.spyOn(StateFile.prototype, "flushed").mockImplementation(() => {
    ask();
    return written;
  });
  let isEarly = false;
  const answering = Promise.resolve(send()).then((answer) => {
    isEarly = true;
    return answer;
  });
  await Promise.race([asked, answering]);
  // Time for an answer that does not wait.
  await delay(50);
  const wasEarly = isEarly;
  flushes.mockRestore();
  write();
  return { isEarly: wasEarly, answer: await answering };
}
