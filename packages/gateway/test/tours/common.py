"""What the Python tours share: arguments, odd keys, and the big object."""
import hashlib
import sys

endpoint, access_key, secret_key, bucket, big_file = sys.argv[1:6]

ODD_PATHS = [
    "plain.txt",
    "with space.txt",
    "plus+sign.txt",
    "per%cent%20.txt",
    "uni-\u00e9-\u8499-\U0001f600.txt",
    "a/b/c/deep.txt",
    "quote's \"q\".txt",
    "amp&=;,#.txt",
    "tilde~!*().txt",
    "x//double.txt",
    "question?mark.txt",
    "long/" + "k" * 1019,
]


def content(path):
    return hashlib.sha512(path.encode()).digest() * 100


def read_big():
    with open(big_file, "rb") as file:
        return file.read()


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def expect(actual, wanted, what):
    if actual != wanted:
        raise AssertionError(f"{what}: got {actual!r:.300}, wanted {wanted!r:.300}")
