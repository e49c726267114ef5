/** Runs the task that each message from the harness names, and sends its result back. */
export function answerTo(tasks) {
  const answer = async ({ task, ...message }) => {
    try {
      process.send({ ok: await tasks[task](message) });
    } catch (error) {
      process.send({ error: error.stack });
    }
  };
  process.on("message", (message) => void answer(message));
}
