import urllib.request

import s3fs
from common import ODD_PATHS, access_key, big_file, bucket, check, content, endpoint, expect, read_big, secret_key

s3 = s3fs.S3FileSystem(key=access_key, secret=secret_key, endpoint_url=endpoint, use_listings_cache=False)
root = f"{bucket}/main/s3fs"

check(not s3.exists(f"{bucket}/nobranch/x"), "unknown branch exists")
check(f"{bucket}/main" in s3.ls(bucket), "branches are listed")
for path in ODD_PATHS:
    key = f"{root}/{path}" if len(path) < 900 else f"{bucket}/main/{path}"
    s3.pipe_file(key, content(path))
    expect(s3.cat_file(key), content(path), key)
found = set(s3.find(root))
expect(found, {f"{root}/{path}" for path in ODD_PATHS if len(path) < 900}, "find")
check(s3.isdir(f"{root}/a/b"), "isdir")
expect(s3.info(f"{root}/plain.txt")["size"], len(content("plain.txt")), "info")

big = read_big()
s3.put_file(big_file, f"{root}/big")
expect(s3.cat_file(f"{root}/big", start=1000, end=2000), big[1000:2000], "range")
with s3.open(f"{root}/big", "rb", block_size=16 * 2**20) as file:
    check(file.read() == big, "big object differs")
with s3.open(f"{root}/streamed", "wb", block_size=5 * 2**20) as file:
    for start in range(0, 12_000_000, 1_000_000):
        file.write(big[start : start + 1_000_000])
check(s3.cat_file(f"{root}/streamed") == big[:12_000_000], "streamed object differs")

s3.copy(f"{root}/plus+sign.txt", f"{root}/copy of plus.txt")
expect(s3.cat_file(f"{root}/copy of plus.txt"), content("plus+sign.txt"), "copy")
s3.setxattr(f"{root}/plain.txt", color="blue")
expect(s3.getxattr(f"{root}/plain.txt", "color"), "blue", "metadata by copy to itself")
expect(urllib.request.urlopen(s3.sign(f"{root}/plain.txt")).read(), content("plain.txt"), "signed URL")
try:
    s3.pipe_file(f"{root}/plain.txt", b"x", mode="create")
    check(False, "mode create overwrote")
except OSError:
    pass
s3.rm(root, recursive=True)
expect(s3.find(root), [], "deleted")
