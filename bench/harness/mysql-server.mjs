/**
 * Sets TILLKIT_BENCH_MYSQL_URL to a server: the one given there or to the tests, or the one that listens on this machine.
 * Resolves to the reason why there is none, or to `undefined`.
 */
export async function useMysql() {
  const given = process.env.TILLKIT_BENCH_MYSQL_URL ?? process.env.TILLKIT_TEST_MYSQL_URL;
  if (given === "none") return "TILLKIT_TEST_MYSQL_URL is none";
  const url = given ?? "mysql://root@127.0.0.1:3306";
  const { default: mysql } = await import("mysql2/promise");
  try {
    const connection = await mysql.createConnection({ uri: url, connectTimeout: 3000 });
    await connection.end();
  } catch (error) {
    if (given !== undefined) throw new TypeError("TILLKIT_TEST_MYSQL_URL cannot be used", { cause: error });
    return `TILLKIT_TEST_MYSQL_URL is not set, and no server at 127.0.0.1:3306 accepts root (${error.code})`;
  }
  process.env.TILLKIT_BENCH_MYSQL_URL = url;
  return undefined;
}
