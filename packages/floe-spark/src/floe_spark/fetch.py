"""`python -m floe_spark.fetch`: find Java, fetch the jars and prepare Java for them now, so that no run has to."""

from __future__ import annotations

import os
import sys

from floe_core.findings import FloeError
from floe_spark.jars import ensure_jars
from floe_spark.java import find_java
from floe_spark.training import prepare_java


def main() -> int:
    """One line for each thing that is there. Without CI=true a failure is told, and does not fail the set-up."""
    try:
        java = find_java()
        print(f"Spark runs on {java}")
        jars = ensure_jars(progress=print)
        print(f"{len(jars)} jars, hashes checked, in {os.path.commonpath(jars)}")
        print("Spark starts faster: " + str(prepare_java(java, jars) or "not with this Java, it keeps no classes"))
    except FloeError as exc:
        for item in exc.findings:
            print(f"✗ {item.code} {item.message}\n    Fix: {item.fix}", file=sys.stderr)
        if os.environ.get("CI") == "true":
            return 3
        print("Spark cannot run until then; tests that need it skip.", file=sys.stderr)
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
