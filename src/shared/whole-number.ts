/** Node fires a timer beyond this many milliseconds after one, which is the opposite of what was meant. */
export const longestTimerMs = 2 ** 31 - 1;
