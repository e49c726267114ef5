/** How long a group waits for the connection that recording has to itself, before it takes the ordinary way. */
export const lanePatienceMs = 100;

/** For how long that connection is not tried again where it could not be opened. */
export const lanePauseMs = 5000;

/** What a promise resolves with, where it does so in time. Otherwise nothing, and `late` gets it. */
export async function soon<T>(
  promise: Promise<T>,
  patienceMs: number,
  late: (value: T) => void,
): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  let isLate = false;
  const tooLong = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      isLate = true;
      resolve(undefined);
    }, patienceMs);
  });
  const inTime = promise.then((value) => {
    if (isLate) late(value);
    return value;
  });
  try {
    return await Promise.race([inTime, tooLong]);
  } finally {
    clearTimeout(timer);
  }
}

/** temporary */
export function withTimeout<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
