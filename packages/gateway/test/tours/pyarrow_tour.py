import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from common import ODD_PATHS, access_key, bucket, check, content, endpoint, expect, read_big, secret_key

scheme, address = endpoint.split("://")
s3 = fs.S3FileSystem(
    access_key=access_key, secret_key=secret_key, endpoint_override=address, scheme=scheme, region="us-east-1",
    allow_bucket_creation=True,
)
root = f"{bucket}/main/pyarrow"
s3.create_dir(f"{root}/a/b", recursive=True)
expect(s3.get_file_info(f"{bucket}/nobranch/x").type, fs.FileType.NotFound, "unknown branch")

for path in ODD_PATHS:
    if "//" in path or len(path) > 900:
        continue  # pyarrow refuses empty path segments itself
    with s3.open_output_stream(f"{root}/{path}") as stream:
        stream.write(content(path))
    with s3.open_input_stream(f"{root}/{path}") as stream:
        expect(stream.read(), content(path), path)

big = read_big()
with s3.open_output_stream(f"{root}/big") as stream:
    for start in range(0, len(big), 7_000_000):
        stream.write(big[start : start + 7_000_000])
with s3.open_input_file(f"{root}/big") as file:
    check(file.size() == len(big), "size")
    check(file.read_at(1_000_000, 5_000_000) == big[5_000_000:6_000_000], "range differs")
    check(file.read() == big, "big object differs")

names = {info.base_name for info in s3.get_file_info(fs.FileSelector(root))}
check({"a", "big", "plain.txt", "with space.txt", "plus+sign.txt"} <= names, f"listing {names}")
deep = [info.path for info in s3.get_file_info(fs.FileSelector(f"{root}/a", recursive=True))]
check(f"{root}/a/b/c/deep.txt" in deep, f"deep listing {deep}")

s3.copy_file(f"{root}/plain.txt", f"{root}/copied.txt")
s3.move(f"{root}/copied.txt", f"{root}/moved.txt")
with s3.open_input_stream(f"{root}/moved.txt") as stream:
    expect(stream.read(), content("plain.txt"), "moved")
expect(s3.get_file_info(f"{root}/copied.txt").type, fs.FileType.NotFound, "moved away")

table = pa.table({"n": list(range(10_000)), "part": [i % 3 for i in range(10_000)]})
pq.write_to_dataset(table, f"{root}/dataset", partition_cols=["part"], filesystem=s3)
back = pq.read_table(f"{root}/dataset", filesystem=s3)
expect(sorted(back["n"].to_pylist()), list(range(10_000)), "dataset")

s3.delete_dir(root)
expect(s3.get_file_info(fs.FileSelector(root, allow_not_found=True)), [], "deleted")
