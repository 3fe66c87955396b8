import socket

import boto3
from botocore.config import Config
from common import ODD_PATHS, access_key, bucket, check, content, endpoint, expect, read_big, secret_key, big_file

domain = "s3.svc.localhost"
resolve = socket.getaddrinfo
asked = set()


def lookup(host, *rest, **more):
    """Sub-domains of localhost need not resolve on every machine."""
    asked.add(host)
    return resolve("127.0.0.1" if str(host).endswith(domain) else host, *rest, **more)


socket.getaddrinfo = lookup
port = endpoint.rsplit(":", 1)[1]
s3 = boto3.client(
    "s3",
    endpoint_url=f"{endpoint.split('://')[0]}://{domain}:{port}",
    region_name="us-east-1",
    aws_access_key_id=access_key,
    aws_secret_access_key=secret_key,
    config=Config(s3={"addressing_style": "virtual"}, retries={"total_max_attempts": 1}),
)
root = "main/virtual/"
for path in ODD_PATHS[:-1]:
    s3.put_object(Bucket=bucket, Key=root + path, Body=content(path))
    expect(s3.get_object(Bucket=bucket, Key=root + path)["Body"].read(), content(path), path)
listed = s3.list_objects_v2(Bucket=bucket, Prefix=root)["Contents"]
expect(sorted(item["Key"] for item in listed), sorted(root + path for path in ODD_PATHS[:-1]), "keys")
s3.upload_file(big_file, bucket, root + "big")
check(s3.get_object(Bucket=bucket, Key=root + "big")["Body"].read() == read_big(), "the big object")
s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": item["Key"]} for item in listed]})
check(f"{bucket}.{domain}" in asked, f"asked for {asked}")
