/**
 * Whether this version of SQLite can lose a committed write when two connections write and checkpoint a write-ahead
 * log together: 3.7.0 to 3.51.2, except 3.50.7 and 3.44.6 and what follows them in their own lines.
 */
export function isAffected(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  if (major !== 3 || minor < 7 || minor > 51) return false;
  if (minor === 51) return patch <= 2;
  if (minor === 50) return patch < 7;
  if (minor === 44) return patch < 6;
  return true;
}
