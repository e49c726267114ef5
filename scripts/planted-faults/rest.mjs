export const restFaults = [];
