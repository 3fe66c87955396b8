import pathlib

import duckdb
import duckdb_extension_httpfs
from common import access_key, bucket, check, endpoint, expect, secret_key

folder = pathlib.Path(duckdb_extension_httpfs.__file__).parent
db = duckdb.connect()
db.execute(f"LOAD '{next(folder.rglob('httpfs.duckdb_extension'))}'")
scheme, address = endpoint.split("://")
db.execute(
    f"CREATE SECRET (TYPE s3, KEY_ID '{access_key}', SECRET '{secret_key}', ENDPOINT '{address}', "
    f"URL_STYLE 'path', USE_SSL {str(scheme == 'https').lower()}, REGION 'us-east-1')"
)
root = f"s3://{bucket}/main/duckdb"
db.execute("CREATE TABLE numbers AS SELECT range AS n, range % 3 AS part, md5(range::VARCHAR) AS text FROM range(1_000_000)")
db.execute(f"COPY numbers TO '{root}/all.parquet' (COMPRESSION uncompressed)")
wanted = db.execute("SELECT count(*), sum(n), min(text), max(text) FROM numbers").fetchall()
read = "SELECT count(*), sum(n), min(text), max(text) FROM"
expect(db.execute(f"{read} '{root}/all.parquet'").fetchall(), wanted, "one file")
db.execute(f"COPY numbers TO '{root}/parts' (FORMAT parquet, PARTITION_BY (part))")
expect(db.execute(f"{read} '{root}/parts/*/*.parquet'").fetchall(), wanted, "partitioned glob")
expect(db.execute(f"SELECT count(*) FROM glob('{root}/parts/**')").fetchall(), [(3,)], "glob")
for name in ["with space", "plus+sign", "per%25cent", "uni-\u00e9-\u8499"]:
    db.execute(f"COPY (SELECT 42 AS answer) TO '{root}/odd/{name}.csv'")
    expect(db.execute(f"SELECT answer FROM '{root}/odd/{name}.csv'").fetchall(), [(42,)], name)
expect(len(db.execute(f"SELECT file FROM glob('{root}/odd/*.csv')").fetchall()), 4, "odd names")
expect(db.execute(f"SELECT count(*) FROM '{root}/odd/*.csv'").fetchall(), [(4,)], "odd names are readable from a glob")
check(db.execute(f"SELECT count(n) FROM '{root}/all.parquet' WHERE n < 100").fetchall() == [(100,)], "range reads")
