"""What somebody without floe would write: one SparkSession, and dbt in the same process on it.

python -m testing.benchmarks._plain_dbt PROJECT: prints the seconds that each part took, as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from time import perf_counter

from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession


def main() -> int:
    os.chdir(sys.argv[1])
    conf = json.loads(Path("profiles.yml").read_text())["shop"]["outputs"]["dev"]["server_side_parameters"]
    start = perf_counter()
    builder = SparkSession.builder
    for name, value in conf.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    ready = perf_counter()
    done = dbtRunner().invoke(["build", "--quiet", "--no-send-anonymous-usage-stats"])
    built = perf_counter()
    session.stop()
    print(json.dumps({"session": ready - start, "dbt": built - ready, "stop": perf_counter() - built}))
    return 0 if done.success else 1


if __name__ == "__main__":
    sys.exit(main())
