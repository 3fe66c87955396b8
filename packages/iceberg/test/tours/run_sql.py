"""Runs statements with DuckDB, whose extensions are here already."""
import pathlib
import sys

import duckdb
import duckdb_extension_avro
import duckdb_extension_httpfs
import duckdb_extension_iceberg

db = duckdb.connect()
for package in (duckdb_extension_httpfs, duckdb_extension_avro, duckdb_extension_iceberg):
    folder = pathlib.Path(package.__file__).parent
    db.execute(f"LOAD '{next(folder.rglob('*.duckdb_extension'))}'")
for statement in sys.argv[1].split(";"):
    if statement.strip() and not statement.strip().startswith(("INSTALL", "LOAD")):
        answer = db.execute(statement)
print(answer.fetchall())
