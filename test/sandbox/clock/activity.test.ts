import { setImmediate as nextIteration } from "node:timers/promises";
import { Activity, Gate } from "../../../src/sandbox/clock/activity.js";

/** Notes when an activity is quiet, and when it is idle. */
function watch(activity: Activity) {
  const seen: string[] = [];
  void activity.quiet().then(() => seen.push("quiet"));
  void activity.idle().then(() => seen.push("idle"));
  return async (): Promise<string[]> => {
    await nextIteration();
    return seen;
  };
}

it("is quiet where its tasks wait for the clock, and idle where none is left, whenever that is asked for", async () => {
  const activity = new Activity();
  activity.enter();
  const asked = [watch(activity)];
  expect(await asked[0]!()).toEqual([]);
  activity.beginWait();
  asked.push(watch(activity));
  for (const seen of asked) expect(await seen()).toEqual(["quiet"]);
  activity.endWait();
  asked.push(watch(activity));
  expect(await asked[2]!()).toEqual([]);
  activity.leave();
  for (const seen of asked) expect(await seen()).toEqual(["quiet", "idle"]);
});

it("is not idle while one of two tasks waits", async () => {
  const activity = new Activity();
  activity.enter();
  activity.enter();
  activity.beginWait();
  activity.leave();
  const seen = watch(activity);
  expect(await seen()).toEqual(["quiet"]);
  activity.endWait();
  activity.leave();
  expect(await seen()).toEqual(["quiet", "idle"]);
});

it("does not count a task that is held, and counts it from its release on", async () => {
  const activity = new Activity();
  const gate = new Gate(activity);
  gate.hold();
  let go!: () => void;
  const going = new Promise<void>((resolve) => (go = resolve));
  const running = activity.run(async () => {
    await gate.pass();
    await going;
  });
  expect(await watch(activity)()).toEqual(["quiet", "idle"]);
  gate.release();
  const seen = watch(activity);
  expect(await seen()).toEqual([]);
  go();
  await running;
  expect(await seen()).toEqual(["quiet", "idle"]);
});

it("holds a task again if the gate closes again before the task goes on", async () => {
  const activity = new Activity();
  const gate = new Gate(activity);
  const go = jest.fn();
  gate.hold();
  const running = activity.run(() => gate.pass()).then(go);
  gate.release();
  gate.hold();
  expect(await watch(activity)()).toEqual(["quiet", "idle"]);
  expect(go).not.toHaveBeenCalled();
  gate.release();
  await running;
});

it("lets a held task go on if the gate was closed twice", async () => {
  const gate = new Gate(new Activity());
  const go = jest.fn();
  gate.hold();
  void gate.pass().then(go);
  gate.hold();
  gate.release();
  await nextIteration();
  expect(go).toHaveBeenCalled();
});

it("is neither quiet nor idle if a task begins in the moment in which the last one ends", async () => {
  const activity = new Activity();
  activity.enter();
  const seen = watch(activity);
  activity.leave();
  activity.enter();
  expect(await seen()).toEqual([]);
  activity.leave();
  expect(await seen()).toEqual(["quiet", "idle"]);
});
