"""How long `floe run` takes beside dbt-spark without floe, on the same models and the same settings of Spark.

Staging, checks and publication, which plain dbt does not do, are reported and taken off.

python -m testing.benchmarks.run [ROUNDS]
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter

from testing.benchmarks import _lake
from testing.benchmarks._peers import FREE, ROOT, say

from floe_spark.jars import JARS, ensure_jars
from floe_spark.session import SparkCatalog, session_conf
from floe_spark.settings import SparkSettings
from floe_testing.services.lineage import lineage_backend

BIN = Path(sys.executable).parent
ROUNDS = 3
BIG, SMALL = 50, 5  # models
MOMENTS = ("first", "again")  # nothing is there yet; everything is there
DEMANDED = {"plain": 1.05, "dbt": 0.75}

Took = dict[str, float]


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    found: dict[str, list[Took]] = {}
    with tempfile.TemporaryDirectory() as folder, lineage_backend(Path(folder)) as lineage:
        for number in range(rounds + 1):
            say(f"round {number} of {rounds}")
            with tempfile.TemporaryDirectory(dir=folder) as place:
                taken = one_round(Path(place), lineage.uri, number)
            for name, took in taken.items() if number else ():  # the first one warms the caches
                found.setdefault(name, []).append(took)
        assert lineage.events(), "no lineage has arrived"
    return 0 if show(found) else 1


def one_round(place: Path, lineage: str, number: int) -> dict[str, Took]:
    """Everybody on folders of their own, that are new; each twice, and each round begins with another one."""
    big, small = place / "big", place / "small"
    turns: list[tuple[str, Callable[[], Took]]] = [
        (f"{BIG} models, floe", floe(big / "floe", BIG, lineage, tested=True)),
        (f"{BIG} models, plain", plain(big / "plain")),
        (f"{SMALL} models, floe", floe(small / "floe", SMALL, lineage, tested=False)),
        (f"{SMALL} models, dbt", command(small / "dbt")),
    ]
    at = number % len(turns)
    taken: dict[str, Took] = {}
    for name, act in (*turns[at:], *turns[:at]):
        for moment in MOMENTS:
            taken[f"{name}, {moment}"] = act()
    return taken


def floe(home: Path, size: int, lineage: str, *, tested: bool) -> Callable[[], Took]:
    """`floe run` of a registered product; lineage goes to a backend on this machine."""
    product = _lake.write_product(home, size, tested=tested)
    environ = {"OPENLINEAGE_URL": lineage}
    timed([str(BIN / "floe"), "product", "register", "--in", str(product)], home, environ)

    def act() -> Took:
        _, total = timed([str(BIN / "floe"), "run", str(product)], home, environ)
        record = json.loads((product / "target" / "floe" / "run_results.json").read_text())
        assert record["publication"]["status"] in ("published", "nothing to publish"), record["publication"]
        return {"total": total, **record["seconds"]}

    return act


def plain(home: Path) -> Callable[[], Took]:
    """A program with one SparkSession and dbtRunner, stock macros, `build`."""
    _lake.write_plain(home, BIG, conf_of(home), tested=True)

    def act() -> Took:
        done, total = timed([sys.executable, "-m", "testing.benchmarks._plain_dbt", str(home)], ROOT, {})
        parts: Took = json.loads(done.splitlines()[-1])
        return {"total": total, **parts}

    return act


def command(home: Path) -> Callable[[], Took]:
    """The `dbt` command that everybody types."""
    _lake.write_plain(home, SMALL, conf_of(home), tested=False)
    return lambda: {"total": timed([str(BIN / "dbt"), "run"], home, {"DBT_SEND_ANONYMOUS_USAGE_STATS": "false"})[1]}


def conf_of(home: Path) -> dict[str, str]:
    """The settings of a session of floe's, on a catalog of the same kind."""
    home.mkdir(parents=True)
    at = "spark.sql.catalog.floe"
    conf = {
        at: "org.apache.iceberg.spark.SparkCatalog",
        f"{at}.type": "jdbc",
        f"{at}.uri": f"jdbc:sqlite:{home}/catalog.db",
        f"{at}.warehouse": (home / "warehouse").as_uri(),
        f"{at}.jdbc.schema-version": "V1",
    }
    catalog = SparkCatalog("floe", conf, _lake.NAMESPACE)
    jars = ",".join(jar.as_uri() for jar in ensure_jars(JARS))
    return {**session_conf(SparkSettings(conf=_lake.QUICK), catalog, home / "work"), "spark.jars": jars}


def timed(words: Sequence[str], cwd: Path, environ: Mapping[str, str]) -> tuple[str, float]:
    """What a command printed, and the seconds from its start to its end."""
    kept = {name: value for name, value in FREE.items() if not name.startswith(("OTEL_", "OPENLINEAGE_"))}
    start = perf_counter()
    done = subprocess.run(words, cwd=cwd, env={**kept, **environ}, capture_output=True, text=True)
    took = perf_counter() - start
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout, took


def excepted(took: Took) -> float:
    """What staging, checks and publication have added. Nobody waits for a staging while Spark is still starting."""
    staging = max(0.0, took["staging"] - took["start"])
    return staging + took["checks"] + took["publish"]


def show(found: Mapping[str, list[Took]]) -> bool:
    print(f"{'':24}{'median':>9}  {'fastest':>9}")
    for name, runs in found.items():
        parts = ", ".join(
            f"{part} {statistics.median(run.get(part, 0.0) for run in runs):.2f}"
            for part in runs[0]
            if part != "total"
        )
        totals = [run["total"] for run in runs]
        print(f"{name:24}{statistics.median(totals):7.2f} s  {min(totals):7.2f} s  {parts}")
    verdicts = []
    for size, peer in ((BIG, "plain"), (SMALL, "dbt")):
        for moment in MOMENTS:
            ours = [run["total"] - excepted(run) for run in found[f"{size} models, floe, {moment}"]]
            theirs = [run["total"] for run in found[f"{size} models, {peer}, {moment}"]]
            ratio = statistics.median(ours) / statistics.median(theirs)
            holds = ratio <= DEMANDED[peer]
            verdicts.append(holds)
            mark = "✓" if holds else "✗"
            print(f"{mark} {size} models, {moment}: floe to {peer} {ratio:.2f}, demanded at most {DEMANDED[peer]}")
    return all(verdicts)


if __name__ == "__main__":
    sys.exit(main())
