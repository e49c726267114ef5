/** The planted defects, and the mode that reveals each. */
export const defectModes = {
  "ack-before-record": "kill",
  "done-outside-tx": "kill",
  "no-fence": "stop",
  "no-dedupe": "kill",
  "lost-events": "kill",
};
