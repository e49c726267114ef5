/** Does what `record` of a store promises with its `transaction`, `lock` and `save`, which a test may have changed. */
async function recordInSteps(keys, decide) {
  const taken = new Error("a webhook is taken");
  try {
    await this.transaction(async (tx) => {
      const { takenEventKeys } = await this.save(tx, decide(await this.lock(tx, keys)));
      if (takenEventKeys.length > 0) throw taken;
    });
    return true;
  } catch (error) {
    if (error === taken) return false;
    throw error;
  }
}

module.exports = { recordInSteps };
