"""Runs commands of the AWS CLI in one process: a start of its own costs each a second.

Reads a JSON array of arguments a line, answers {"code", "output"} a line.
"""

import io
import json
import sys

from awscli.clidriver import create_clidriver

answers = sys.stdout
for line in sys.stdin:
    sys.stdout = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    try:
        code = create_clidriver().main(json.loads(line))
    except SystemExit as ended:
        code = ended.code
    output = sys.stdout.buffer.getvalue().decode()
    print(json.dumps({"code": code, "output": output}), file=answers, flush=True)
