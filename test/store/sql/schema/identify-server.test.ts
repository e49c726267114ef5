import { identifyMysql, identifyPostgres } from "../../../../src/store/sql/schema/identify-server.js";

const gcc = "on x86_64-pc-linux-gnu, compiled by gcc (GCC) 9.5.0, 64-bit";

describe("a server that speaks PostgreSQL", () => {
  it.each([
    "PostgreSQL 12.22 (Debian 12.22-1.pgdg120+1) on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14) 12.2.0, 64-bit",
    "PostgreSQL 17.5 on aarch64-unknown-linux-gnu, compiled by gcc (GCC) 13.2.0, 64-bit",
    // Aurora, RDS, Cloud SQL, AlloyDB, Neon, Supabase and Azure say what PostgreSQL says.
    `PostgreSQL 15.4 ${gcc}`,
    "PostgreSQL 16.9 on x86_64-pc-linux-gnu, compiled by Debian clang version 12.0.1, 64-bit",
    "PostgreSQL 17.2 (Percona Server for PostgreSQL 17.2.1) on x86_64-pc-linux-gnu, compiled by gcc (GCC) 11.4.1, 64-bit",
    "PostgreSQL 16.1, compiled by Visual C++ build 1937, 64-bit",
    "PostgreSQL 17.5 (aa1cab3) on aarch64-unknown-linux-gnu, compiled by gcc (Debian 12.2.0-14) 12.2.0, 64-bit",
    "EnterpriseDB 12.3.4 on x86_64-pc-linux-gnu, compiled by gcc (GCC) 4.8.5, 64-bit",
  ])("is examined where it is PostgreSQL inside: %s", (version) => {
    expect(identifyPostgres({ version })).toEqual({ verdict: "examined" });
  });

  it.each([
    ["CockroachDB", "CockroachDB CCL v24.3.0 (x86_64-pc-linux-gnu, built 2024/11/18 15:00:00, go1.22.8)"],
    ["YugabyteDB", "PostgreSQL 11.2-YB-2.20.1.0-b0 on x86_64-pc-linux-gnu, compiled by clang version 16.0.6"],
    [
      "YugabyteDB",
      "PostgreSQL 15.12-YB-2025.1.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang version 17.0.6",
    ],
    ["Aurora DSQL", "PostgreSQL 16"],
    [
      "Amazon Redshift",
      "PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC gcc (GCC) 3.4.2 20041017 (Red Hat 3.4.2-6.fc3), Redshift 1.0.50629",
    ],
    ["Materialize", "PostgreSQL 9.5.0 on x86_64-unknown-linux-gnu (Materialize v0.27.0)"],
    ["RisingWave", "PostgreSQL 13.14.0-RisingWave-2.1.0 (0000000)"],
    ["CedarDB", "PostgreSQL 16.3 compatible CedarDB v2025-08-20"],
    ["H2", "PostgreSQL 8.2.23 server protocol using H2 2.3.232 (2024-08-11)"],
    ["Greenplum", `PostgreSQL 12.12 (Greenplum Database 7.1.0 build commit:e7c2b1f) ${gcc}`],
    ["ShardingSphere-Proxy", "PostgreSQL 12.3-ShardingSphere-Proxy 5.0.0"],
  ])("is not examined where it is %s", (product, version) => {
    expect(identifyPostgres({ version })).toEqual({ verdict: "unexamined", product });
  });

  it("is not examined where Citus is installed", () => {
    const names = { version: `PostgreSQL 16.6 ${gcc}`, features: ["citus"] };
    expect(identifyPostgres(names)).toEqual({ verdict: "unexamined", product: "Citus" });
  });

  // PGAdapter of Spanner says the second sentence.
  it.each(["NewDB 1.0", "PostgreSQL 14.1", "PostgreSQL 16.3 on x86_64-pc-linux-gnu", "PostgreSQLite 1.0"])(
    "is not examined where nobody knows its name, and it names no compiler: %s",
    (version) => {
      const product = `an unknown product with the version "${version}"`;
      expect(identifyPostgres({ version })).toEqual({ verdict: "unexamined", product });
    },
  );
});

describe("a server that speaks MySQL", () => {
  it.each([
    ["8.0.36", "MySQL Community Server - GPL"],
    ["8.4.3", "Source distribution"],
    ["8.0.36-28", "Percona Server (GPL), Release 28, Revision 47601f19"],
    ["8.0.28", "Source distribution"],
    ["8.0.35-google", "(Google)"],
    ["8.0.36-28.1", "Percona XtraDB Cluster (GPL), Release rel28, Revision bfb687f, WSREP version 26.1.4.3"],
    ["8.0.39", "Source distribution"],
    ["8.0.30-txsql", "(Tencent)"],
    ["10.6.5-2-MariaDB-enterprise-log", "MariaDB Enterprise Server"],
    ["10.6.18-MariaDB-log", "managed by https://aws.amazon.com/rds/"],
    ["11.4.4-MariaDB-ubu2404", "mariadb.org binary distribution"],
    ["5.5.5-10.11.6-MariaDB-0+deb12u1", "Debian 12"],
  ])("is examined where it is MySQL or MariaDB inside: %s, %s", (version, comment) => {
    expect(identifyMysql({ version, comment })).toEqual({ verdict: "examined" });
  });

  it.each([
    ["8.0.11-TiDB-v7.5.0", "TiDB Server (Apache License 2.0) Community Edition, MySQL 8.0 compatible"],
    ["5.7.25-TiDB-v6.1.0", ""],
    ["8.0.11-TiDB-v8.5.3-serverless", ""],
    // The version of TiDB is a setting.
    ["8.0.36", "TiDB Server (Apache License 2.0) Community Edition, MySQL 8.0 compatible"],
  ])("is refused where it is TiDB: %s, %s", (version, comment) => {
    const known = identifyMysql({ version, comment });
    expect(known).toMatchObject({
      verdict: "refused",
      product: "TiDB",
      reason: expect.stringContaining("SKIP LOCKED"),
    });
  });

  it("is refused where only a variable tells that it is TiDB", () => {
    const known = identifyMysql({ version: "8.0.36", comment: "", features: ["tidb_current_ts"] });
    expect(known).toMatchObject({ verdict: "refused", product: "TiDB" });
  });

  it.each([
    ["Vitess", "8.0.30-Vitess", "Version: 17.0.0"],
    ["Vitess", "8.0.23-PlanetScale", ""],
    [
      "SingleStore",
      "5.7.32",
      "SingleStoreDB source distribution (compatible; MySQL Enterprise & MySQL Commercial)",
    ],
    ["OceanBase", "5.7.25-OceanBase_CE-v4.2.1.2", "OceanBase_CE 4.2.1.2"],
    ["SingleStore", "5.5.58", "MemSQL source distribution (compatible; MySQL Enterprise & MySQL Commercial)"],
    ["Dolt", "8.0.33", "Dolt"],
    ["StarRocks", "5.1.0", "StarRocks version 2.1.2"],
    ["Doris", "5.7.99", "Doris version doris-2.1.7-rc03"],
    ["Doris", "5.7.99", "selectdb-core version 2.0.3"],
    ["PolarDB-X", "5.6.29-TDDL-5.4.13-16534775", "Tddl Server (ALIBABA)"],
    ["PolarDB-X", "5.6.29-PXC-5.4.19-SNAPSHOT", ""],
    ["MatrixOne", "8.0.30-MatrixOne-v1.1.1", "MatrixOne"],
    ["Databend", "DatabendQuery v1.2.58-nightly", ""],
    ["GreptimeDB", "8.4.2-greptimedb-0.9.0", ""],
    ["ClickHouse", "24.8.4.13", ""],
    ["ShardingSphere-Proxy", "8.0.20-ShardingSphere-Proxy 5.0.0", ""],
    ["Mycat", "5.6.29-mycat-1.6.7", ""],
    ["DBLE", "5.7.11-dble-9.9.9.9", ""],
    ["StoneDB", "5.7.36-StoneDB-v1.0.4", "build-"],
    ["GBase", "8.6.2.43-R33", "GBase Server"],
  ])("is not examined where it is %s: %s", (product, version, comment) => {
    expect(identifyMysql({ version, comment })).toEqual({ verdict: "unexamined", product });
  });

  it("is not examined where only a variable tells that it is StarRocks", () => {
    const names = { version: "8.0.33", comment: "3.3.5-6d81f75", features: ["pipeline_dop"] };
    expect(identifyMysql(names)).toEqual({ verdict: "unexamined", product: "StarRocks" });
  });
});
