import io
import os
import ssl
import sys
import tempfile
import urllib.request

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError
from common import ODD_PATHS, access_key, big_file, bucket, check, content, endpoint, expect, read_big, secret_key

s3 = boto3.client(
    "s3",
    endpoint_url=endpoint,
    aws_access_key_id=access_key,
    aws_secret_access_key=secret_key,
    region_name="us-east-1",
    verify=os.environ.get("AWS_CA_BUNDLE", True),
)
context = ssl.create_default_context(cafile=os.environ["AWS_CA_BUNDLE"]) if endpoint.startswith("https") else None
root = "main/boto3"

check(bucket in [b["Name"] for b in s3.list_buckets()["Buckets"]], "list_buckets")
s3.head_bucket(Bucket=bucket)

for path in ODD_PATHS:
    key = f"{root}/{path}" if len(path) < 900 else f"main/{path}"
    s3.put_object(Bucket=bucket, Key=key, Body=content(path), Metadata={"Path": "v"}, ContentType="text/x-tour")
    got = s3.get_object(Bucket=bucket, Key=key)
    expect(got["Body"].read(), content(path), key)
    expect(got["ContentType"], "text/x-tour", "content type")
    expect(got["Metadata"], {"path": "v"}, "metadata")
s3.put_object(Bucket=bucket, Key=f"{root}/dir/", Body=b"")
s3.put_object(Bucket=bucket, Key=f"{root}/from-file", Body=io.BytesIO(b"x" * 100_000))
expect(len(s3.get_object(Bucket=bucket, Key=f"{root}/from-file")["Body"].read()), 100_000, "file object")

pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"{root}/", PaginationConfig={"PageSize": 3})
keys = [item["Key"] for page in pages for item in page.get("Contents", [])]
expect(sorted(keys), sorted([f"{root}/{p}" for p in ODD_PATHS if len(p) < 900] + [f"{root}/dir/", f"{root}/from-file"]), "keys")
pages = s3.get_paginator("list_objects").paginate(Bucket=bucket, Prefix=f"{root}/", Delimiter="/", PaginationConfig={"PageSize": 2})
prefixes = [item["Prefix"] for page in pages for item in page.get("CommonPrefixes", [])]
expect(prefixes, [f"{root}/a/", f"{root}/dir/", f"{root}/x/"], "prefixes")

big = read_big()
s3.upload_file(big_file, bucket, f"{root}/big")
target = os.path.join(tempfile.mkdtemp(), "big")
s3.download_file(bucket, f"{root}/big", target)
with open(target, "rb") as file:
    check(file.read() == big, "big object differs")
os.remove(target)
part = s3.get_object(Bucket=bucket, Key=f"{root}/big", Range="bytes=1000000-1999999")["Body"].read()
check(part == big[1_000_000:2_000_000], "range differs")

s3.copy({"Bucket": bucket, "Key": f"{root}/big"}, bucket, f"{root}/big-copy")
check(s3.head_object(Bucket=bucket, Key=f"{root}/big-copy")["ContentLength"] == len(big), "copy size")
s3.copy_object(Bucket=bucket, Key=f"{root}/plus copy", CopySource={"Bucket": bucket, "Key": f"{root}/plus+sign.txt"})
expect(s3.get_object(Bucket=bucket, Key=f"{root}/plus copy")["Body"].read(), content("plus+sign.txt"), "copy")

try:
    s3.put_object(Bucket=bucket, Key=f"{root}/plain.txt", Body=b"x", IfNoneMatch="*")
    check(False, "IfNoneMatch was not honoured")
except ClientError as error:
    expect(error.response["ResponseMetadata"]["HTTPStatusCode"], 412, "IfNoneMatch")

url = s3.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": f"{root}/with space.txt"})
expect(urllib.request.urlopen(url, context=context).read(), content("with space.txt"), "presigned get")
url = s3.generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": f"{root}/presigned"})
urllib.request.urlopen(urllib.request.Request(url, data=b"presigned", method="PUT", headers={"Content-Type": ""}), context=context)
expect(s3.get_object(Bucket=bucket, Key=f"{root}/presigned")["Body"].read(), b"presigned", "presigned put")

while True:
    page = s3.list_objects_v2(Bucket=bucket, Prefix=f"{root}/", MaxKeys=1000)
    if page["KeyCount"] == 0:
        break
    result = s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": item["Key"]} for item in page["Contents"]]})
    expect(result.get("Errors", []), [], "delete errors")

# Signature V2: botocore asks for /bucket and signs /bucket/.

old = boto3.client(
    "s3",
    endpoint_url=endpoint,
    aws_access_key_id=access_key,
    aws_secret_access_key=secret_key,
    region_name="us-east-1",
    verify=os.environ.get("AWS_CA_BUNDLE", True),
    config=Config(signature_version="s3", s3={"addressing_style": "path"}),
)
v2 = f"{root}/v2"
old.head_bucket(Bucket=bucket)
old.put_object(Bucket=bucket, Key=f"{v2}/a b", Body=b"one")
old.put_object(Bucket=bucket, Key=f"{v2}/c", Body=b"two")
listed = [item["Key"] for item in old.list_objects(Bucket=bucket, Prefix=f"{v2}/")["Contents"]]
expect(listed, [f"{v2}/a b", f"{v2}/c"], "list_objects with SigV2")
expect(old.list_objects_v2(Bucket=bucket, Prefix=f"{v2}/")["KeyCount"], 2, "list_objects_v2 with SigV2")
for url, text in [
    (old.generate_presigned_url("list_objects", Params={"Bucket": bucket, "Prefix": f"{v2}/"}), b"main/boto3/v2/c"),
    (old.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": f"{v2}/c"}), b"two"),
]:
    with urllib.request.urlopen(url, context=context) as answer:
        check(text in answer.read(), f"presigned with SigV2: {url}")
described = old.generate_presigned_url(
    "put_object", Params={"Bucket": bucket, "Key": f"{v2}/d", "Metadata": {"color": "red"}}
)
urllib.request.urlopen(urllib.request.Request(described, data=b"x", method="PUT", headers={"Content-Type": ""}), context=context)
expect(old.head_object(Bucket=bucket, Key=f"{v2}/d")["Metadata"], {"color": "red"}, "metadata signed with SigV2")
gone = old.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": f"{v2}/{name}"} for name in ("a b", "c", "d")]})
expect(len(gone["Deleted"]), 3, "delete_objects with SigV2")
print("ok", file=sys.stderr)

for ref in sys.argv[6:]:
    got = s3.get_object(Bucket=bucket, Key=f"{ref}/a b+c.txt")
    expect(got["Body"].read(), b"one", f"an object at {ref}")
    check("x-svc-commit" in got["ResponseMetadata"]["HTTPHeaders"], "the commit of a time")
    listed = s3.list_objects_v2(Bucket=bucket, Prefix=f"{ref}/")["Contents"]
    expect([item["Key"] for item in listed], [f"{ref}/a b+c.txt"], f"keys at {ref}")
    s3.copy_object(Bucket=bucket, Key=f"{root}/back", CopySource={"Bucket": bucket, "Key": f"{ref}/a b+c.txt"})
    expect(s3.get_object(Bucket=bucket, Key=f"{root}/back")["Body"].read(), b"one", f"a copy from {ref}")
    signed = s3.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": f"{ref}/a b+c.txt"})
    expect(urllib.request.urlopen(signed, context=context).read(), b"one", f"a presigned URL at {ref}")
    s3.delete_object(Bucket=bucket, Key=f"{root}/back")
