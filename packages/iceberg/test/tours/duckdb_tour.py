"""Tables of the catalog with DuckDB's own Iceberg extension."""
import pathlib
import sys

import duckdb
import duckdb_extension_avro
import duckdb_extension_httpfs
import duckdb_extension_iceberg

endpoint, access_key, secret_key, *refs = sys.argv[1:]
db = duckdb.connect()
for package in (duckdb_extension_httpfs, duckdb_extension_avro, duckdb_extension_iceberg):
    folder = pathlib.Path(package.__file__).parent
    db.execute(f"LOAD '{next(folder.rglob('*.duckdb_extension'))}'")


def expect(found, wanted, what):
    if found != wanted:
        raise SystemExit(f"{what}: expected {wanted}, found {found}")


db.execute(
    f"ATTACH 'lake' AS lake (TYPE iceberg, ENDPOINT '{endpoint}/iceberg', CLIENT_ID '{access_key}', "
    f"CLIENT_SECRET '{secret_key}', OAUTH2_SERVER_URI '{endpoint}/iceberg/v1/oauth/tokens', DEFAULT_SCHEMA 'main')"
)
for ref in refs:
    expect(db.execute(f'SELECT count(*), max(n) FROM lake."{ref}".plain').fetchall(), [(10, 9)], f"rows on {ref}")
db.execute("CREATE TABLE lake.main.made (n BIGINT, s VARCHAR)")
db.execute("INSERT INTO lake.main.made SELECT range, 'x' FROM range(100)")
db.execute("INSERT INTO lake.main.made VALUES (1000, 'y')")
expect(db.execute("SELECT count(*), max(n) FROM lake.main.made").fetchall(), [(101, 1000)], "rows made here")
db.execute("DELETE FROM lake.main.made WHERE n < 50")
expect(db.execute("SELECT count(*) FROM lake.main.made").fetchall(), [(51,)], "rows after deleting some")
db.execute("DROP TABLE lake.main.made")
expect(sorted(name for (name,) in db.execute("SELECT table_name FROM duckdb_tables() WHERE database_name = 'lake' AND schema_name = 'main'").fetchall()), ["plain", "shared"], "tables")
expect(db.execute("SELECT count(*), max(n) FROM lake.main.shared").fetchall(), [(10, 70)], "rows of two branches")
