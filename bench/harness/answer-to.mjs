/** Does what the harness asks of this process by message, and answers each. */
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
