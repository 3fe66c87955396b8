import polars as pl
from common import access_key, bucket, endpoint, expect, secret_key

options = {
    "aws_access_key_id": access_key,
    "aws_secret_access_key": secret_key,
    "aws_endpoint_url": endpoint,
    "aws_region": "us-east-1",
    "aws_allow_http": "true",
}
root = f"s3://{bucket}/main/polars"
frame = pl.DataFrame({"n": range(1000), "part": [i % 3 for i in range(1000)]})

frame.write_parquet(f"{root}/one file.parquet", storage_options=options)
read = pl.scan_parquet(f"{root}/one file.parquet", storage_options=options).filter(pl.col("n") >= 990).collect()
expect(read["n"].to_list(), list(range(990, 1000)), "filtered rows")
for part in range(3):
    frame.filter(pl.col("part") == part).write_parquet(f"{root}/parts/{part}.parquet", storage_options=options)
read = pl.scan_parquet(f"{root}/parts/*.parquet", storage_options=options).collect()
expect(sorted(read["n"].to_list()), list(range(1000)), "rows of a glob")
frame.lazy().sink_csv(f"{root}/rows.csv", storage_options=options)
expect(pl.scan_csv(f"{root}/rows.csv", storage_options=options).collect().height, 1000, "rows of CSV")
