/** Why mutants survive, by a part of their line and, where several mutants are in one line, by the replacement. */
export const reasons = [];
