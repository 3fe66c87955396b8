"""Tables at a time: "write" makes them, "read" finds them at refs where main no longer has all of them."""
import os
import pathlib
import sys

import duckdb
import duckdb_extension_httpfs
import pyarrow as pa
import pyarrow.parquet as pq
import s3fs
from common import access_key, bucket, check, endpoint, expect, secret_key
from deltalake import DeltaTable, write_deltalake
from pyiceberg.catalog.memory import InMemoryCatalog
from pyiceberg.table import StaticTable

_, _, _, _, _, _, phase, *refs = sys.argv
scheme, address = endpoint.split("://")
delta_options = {
    "AWS_ACCESS_KEY_ID": access_key,
    "AWS_SECRET_ACCESS_KEY": secret_key,
    "AWS_ENDPOINT_URL": endpoint,
    "AWS_REGION": "us-east-1",
    "AWS_ALLOW_HTTP": "true",
    "conditional_put": "etag",
}
iceberg_options = {
    "s3.endpoint": endpoint,
    "s3.access-key-id": access_key,
    "s3.secret-access-key": secret_key,
    "s3.region": "us-east-1",
}
files = s3fs.S3FileSystem(key=access_key, secret=secret_key, endpoint_url=endpoint, use_listings_cache=False)
wanted = list(range(200))


def rows(start):
    return pa.table({"n": pa.array(range(start, start + 100), pa.int64())})


def sorted_rows(table):
    return sorted(table["n"].to_pylist())


def write():
    root = f"s3://{bucket}/tables"
    for start in (0, 100):
        write_deltalake(f"{root}/delta", rows(start), mode="append", storage_options=delta_options)
        with files.open(f"{bucket}/tables/parquet/{start}.parquet", "wb") as file:
            pq.write_table(rows(start), file)
    catalog = InMemoryCatalog("tour", warehouse=f"{root}/iceberg", **iceberg_options)
    catalog.create_namespace("db")
    table = catalog.create_table("db.numbers", schema=rows(0).schema)
    table.append(rows(0))
    table.append(rows(100))


def read(ref):
    root = f"s3://{bucket}/{ref}"
    expect(sorted_rows(DeltaTable(f"{root}/delta", storage_options=delta_options).to_pyarrow_table()), wanted, f"delta at {ref}")
    metadata = max(files.glob(f"{bucket}/{ref}/iceberg/db*/numbers/metadata/*.metadata.json"))
    table = StaticTable.from_metadata(f"s3://{metadata}", iceberg_options)
    expect(sorted_rows(table.scan().to_arrow()), wanted, f"iceberg at {ref}")
    for path in [f"{root}/parquet/100.parquet", f"{root}/parquet/*.parquet"]:
        found = db.execute(f"SELECT max(n) FROM '{path}'").fetchall()
        expect(found, [(199,)], f"DuckDB reads {path}")


if phase == "write":
    write()
else:
    folder = pathlib.Path(duckdb_extension_httpfs.__file__).parent
    db = duckdb.connect()
    db.execute(f"LOAD '{next(folder.rglob('httpfs.duckdb_extension'))}'")
    db.execute(
        f"CREATE SECRET (TYPE s3, KEY_ID '{access_key}', SECRET '{secret_key}', ENDPOINT '{address}', "
        f"URL_STYLE 'path', USE_SSL {str(scheme == 'https').lower()}, REGION 'us-east-1')"
    )
    now = DeltaTable(f"s3://{bucket}/tables/delta", storage_options=delta_options)
    check(now.version() == 0, "the present is another")
    for ref in refs:
        read(ref)

# The native libraries abort now and then while the interpreter ends, long after the last request.
sys.stdout.flush()
os._exit(0)
