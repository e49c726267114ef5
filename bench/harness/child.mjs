import { fork } from "node:child_process";
import path from "node:path";

/** A process of the harness. It answers one message after the other. */
export class Child {
  #process;
  #waiting = [];
  /** Resolves when the process has ended. */
  gone;

  constructor(file, args = [], execArgv = [], env = {}) {
    this.#process = fork(path.join(import.meta.dirname, file), args, {
      execArgv,
      serialization: "advanced",
      // The store in memory refuses to start in production; Express prints every refusal in development.
      env: { ...process.env, NODE_ENV: "test", ...env },
    });
    this.#process.on("message", ({ ok, error }) => {
      const { resolve, reject } = this.#waiting.shift();
      if (error === undefined) resolve(ok);
      else reject(new Error(error));
    });
    this.gone = new Promise((resolve) => void this.#process.on("exit", resolve));
    this.#process.on("exit", (code, signal) => {
      for (const { reject } of this.#waiting.splice(0))
        reject(new Error(`${file} ended (${signal ?? code})`));
    });
  }

  get pid() {
    return this.#process.pid;
  }

  /** Resolves to the next message that the process sends without being asked. */
  answer() {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  ask(task, message = {}) {
    if (!this.#process.connected)
      return Promise.reject(new Error(`The process for the task ${task} has ended.`));
    const answer = this.answer();
    this.#process.send({ task, ...message });
    return answer;
  }

  end() {
    this.#process.kill("SIGKILL");
  }
}
