import pyarrow as pa
from common import access_key, bucket, check, endpoint, expect, secret_key
from pyiceberg.catalog.memory import InMemoryCatalog

catalog = InMemoryCatalog(
    "tour",
    **{
        "warehouse": f"s3://{bucket}/main/iceberg",
        "s3.endpoint": endpoint,
        "s3.access-key-id": access_key,
        "s3.secret-access-key": secret_key,
        "s3.region": "us-east-1",
    },
)
catalog.create_namespace("db")


def rows(start):
    return pa.table({"n": pa.array(range(start, start + 100), pa.int64())})


table = catalog.create_table("db.numbers", schema=rows(0).schema)
table.append(rows(0))
first = table.current_snapshot().snapshot_id
table.append(rows(100))
table.delete("n < 50")
expect(sorted(table.scan().to_arrow()["n"].to_pylist()), list(range(50, 200)), "rows")
expect(sorted(table.scan(snapshot_id=first).to_arrow()["n"].to_pylist()), list(range(100)), "rows of a snapshot")
check(all(task.file.file_path.startswith(f"s3://{bucket}/main/iceberg/") for task in table.scan().plan_files()), "files")
