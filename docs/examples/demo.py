"""`make demo`: compile the example, run and publish it, see its history kept, then break it in four ways."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

MESH = Path(__file__).parent / "mesh"


@dataclass(frozen=True)
class Edit:
    """A change of one file of the example."""

    story: str
    file: str
    old: str
    new: str

    def apply(self, mesh: Path) -> None:
        path = mesh / self.file
        text = path.read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise SystemExit(f"{self.file} should hold {self.old!r} once")
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")

    def show(self) -> tuple[str, ...]:
        removed = (f"  - {line}" for line in self.old.strip("\n").split("\n"))
        return (self.file, *removed, *(f"  + {line}" for line in self.new.strip("\n").split("\n")))


@dataclass(frozen=True)
class Break(Edit):
    """One way to break the example: an edit, and the command that notices."""

    name: str
    command: str = "floe compile customer-360"


DAY_TWO = (
    Edit(
        "Grace has a new address",
        "customer-360/seeds/bronze_crm_customers.csv",
        "c-2,Grace,grace@example.com,2026-01-02 08:00:00",
        "c-2,Grace,hopper@example.com,2026-01-07 08:00:00",
    ),
    Edit(
        "Edsger has ordered",
        "customer-360/seeds/bronze_shop_orders.csv",
        "o-3,c-2,42.0,2026-01-06 09:00:00\n",
        "o-3,c-2,42.0,2026-01-06 09:00:00\no-4,c-3,17.5,2026-01-07 09:00:00\n",
    ),
)

DAY_THREE = Edit(
    "On the third day the CRM exports Ada twice",
    "customer-360/seeds/bronze_crm_customers.csv",
    "c-1,Ada,ada@example.com,2026-01-01 08:00:00\n",
    "c-1,Ada,ada@example.com,2026-01-01 08:00:00\nc-1,Ada,countess@example.com,2026-01-08 08:00:00\n",
)

BREAKS = (
    Break(
        "The sales domain tries to test less than the enterprise demands",
        "sales/manifest.yaml",
        "minimum_test_coverage: 90",
        "minimum_test_coverage: 70",
        "weaker",
    ),
    Break(
        "A guardrail is misspelt; other tools would ignore it in silence",
        "sales/manifest.yaml",
        "quality_gates:",
        "quality_gate:",
        "typo",
    ),
    Break(
        "The product wants an engine of its own",
        "customer-360/floe.yaml",
        "transforms:",
        "compute: duckdb\n\ntransforms:",
        "compute",
    ),
)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="floe-demo-") as folder:
        mesh = fresh(Path(folder))
        say("Three tiers: an enterprise, its sales domain, and the product customer-360, which claims its name")
        must("floe product register --in customer-360", mesh)
        must("floe compile customer-360", mesh)
        must("floe why minimum_test_coverage --product customer-360", mesh)
        say(
            "The product runs on Spark, in private: seeds, tables, a view, an incremental model, a snapshot, tests",
            "Its data contract is checked on what was built; then everything is published at once",
        )
        must("floe run customer-360", mesh)
        say("The next day", *(line for edit in DAY_TWO for line in (edit.story, *edit.show())))
        for edit in DAY_TWO:
            edit.apply(mesh)
        must("floe run customer-360", mesh)
        say(
            "Every table has its history: two snapshots. The incremental silver_orders took the new order only;",
            "silver_customer_history keeps Grace's old address beside the new one.",
        )
        say(DAY_THREE.story, *DAY_THREE.show())
        DAY_THREE.apply(mesh)
        if show("floe run customer-360", mesh) != 1:
            raise SystemExit("nobody noticed that a customer is there twice")
        say("Nothing of it was published: consumers still read the tables of the second day.")
        break_it(Path(folder))
        say("Three mistakes, each answered with a place, a reason and a fix. `floe explain CODE` tells more.")


def break_it(folder: Path) -> None:
    for number, item in enumerate(BREAKS, 1):
        say(f"{number}. {item.story}", *item.show())
        mesh = fresh(folder)
        item.apply(mesh)
        if show(item.command, mesh) == 0:
            raise SystemExit(f"nobody noticed: {item.story}")


def fresh(folder: Path) -> Path:
    """The example in a repository of its own, as every product has; nobody's git settings are touched."""
    mesh = folder / "mesh"
    shutil.rmtree(mesh, ignore_errors=True)
    shutil.copytree(MESH, mesh, ignore=shutil.ignore_patterns("target", "logs", ".floe"))
    (mesh / ".gitignore").write_text(".floe/\ntarget/\n", encoding="utf-8")
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false")
    for command in (
        ("init", "-q", "-b", "main"),
        ("remote", "add", "origin", "https://github.com/acme/sales-customer-360.git"),
        ("add", "-A"),
        (*who, "commit", "-q", "-m", "Start"),
    ):
        subprocess.run(["git", *command], cwd=mesh, check=True)
    return mesh


def say(*lines: str) -> None:
    print("", *lines, "", sep="\n", flush=True)


def must(command: str, cwd: Path) -> None:
    if show(command, cwd):
        raise SystemExit(f"{command} failed")


def show(command: str, cwd: Path) -> int:
    print(f"$ {command}", flush=True)
    floe = Path(sys.executable).with_name("floe")
    return subprocess.run([floe, *command.split()[1:]], cwd=cwd, env=dict(os.environ)).returncode


if __name__ == "__main__":
    main()
