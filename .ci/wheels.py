"""Prove that each wheel of the workspace installs and passes its own tests alone.

A uv workspace shares one environment, so a member can import what only another member declares. Here each
wheel is built, installed in an environment of its own with nothing but its declared dependencies (versions
from uv.lock, siblings from their wheels), checked, and tested with a copy of its tests/ folder outside the
checkout. Test tools are pytest, hypothesis and the package's dependency group `test`. Tests that start Spark
or a server are left to `make test`: they prove that, not the wheel.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV = str(ROOT / ".ci" / "uv")
KINDS = ("packages", "plugins", "testing")
TEST_TOOLS = ("pytest", "hypothesis")
AT_ONCE = 2  # environments that are tested at the same time
LEADS_BACK = {"PYTHONPATH", "PYTHONHOME", "FLOE_UPDATE"}  # variables that would break the isolation


class CommandError(Exception):
    """A command failed; the message is what it printed."""


@dataclass(frozen=True)
class Member:
    folder: Path
    name: str
    version: str
    extras: tuple[str, ...]
    has_test_group: bool

    @property
    def tests(self) -> Path:
        return self.folder / "tests"

    def requirement(self, wheel: Path) -> str:
        extras = f"[{','.join(self.extras)}]" if self.extras else ""
        return f"{self.name}{extras} @ {wheel.as_uri()}"


@dataclass(frozen=True)
class Result:
    member: Member
    problems: list[str]
    tests: str
    seconds: float


def run(*command: str, cwd: Path = ROOT, env: dict[str, str] | None = None, show: str = "") -> str:
    """What the command prints; with `show` each line is shown as it comes, behind that word."""
    lines = []
    with subprocess.Popen(  # noqa: S603 - own arguments
        command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        for line in process.stdout or ():
            lines.append(line)
            if show:
                print(f"{show}  {line}", end="", flush=True)
    printed = "".join(lines).strip()
    if process.returncode:
        raise CommandError(printed)
    return printed


def find_members() -> list[Member]:
    paths = [path for kind in KINDS for path in sorted(ROOT.glob(f"{kind}/*/pyproject.toml"))]
    return [read_member(path) for path in paths if (path.parent / "src").is_dir()]


def read_member(path: Path) -> Member:
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    project = content["project"]
    return Member(
        folder=path.parent,
        name=project["name"],
        version=project["version"],
        extras=tuple(project.get("optional-dependencies", {})),
        has_test_group="test" in content.get("dependency-groups", {}),
    )


def build(member: Member, wheels: Path) -> Path:
    print(f"building {member.name} {member.version}", flush=True)
    run(UV, "build", "--quiet", "--wheel", "--package", member.name, "--out-dir", str(wheels))
    stem = re.sub(r"[-_.]+", "_", member.name).lower()
    return next(wheels.glob(f"{stem}-*.whl"))


def write_constraints(target: Path, built: dict[Member, Path]) -> None:
    """Versions from uv.lock for everything foreign, the built wheels for everything of this workspace."""
    everything = ("--all-packages", "--all-groups", "--all-extras", "--no-emit-workspace")
    foreign = run(UV, "export", "--quiet", "--locked", "--no-hashes", *everything)
    siblings = [f"{member.name} @ {wheel.as_uri()}" for member, wheel in built.items()]
    target.write_text("\n".join([foreign, *siblings, ""]), encoding="utf-8")


def check_files(member: Member, wheel: Path) -> list[str]:
    problems = []
    if not any(name.endswith("/py.typed") for name in zipfile.ZipFile(wheel).namelist()):
        problems.append("the wheel has no py.typed")
    changelog = member.folder / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8") if changelog.is_file() else ""
    if not re.search(rf"^## {re.escape(member.version)}(?![\w.])", text, re.MULTILINE):
        problems.append(f"CHANGELOG.md has no section '## {member.version}'")
    return problems


class Alone:
    """An environment that holds one wheel, what it declares, and nothing else of the workspace."""

    def __init__(self, work: Path, constraints: Path) -> None:
        venv = work / "venv"
        run(UV, "venv", "--quiet", "--no-project", "--python", sys.executable, str(venv))
        kept = {name: value for name, value in os.environ.items() if name not in LEADS_BACK}
        path = f"{venv / 'bin'}{os.pathsep}{os.environ['PATH']}"
        self.work = work
        self.constraints = constraints
        self.python = str(venv / "bin" / "python")
        self.variables = kept | {"VIRTUAL_ENV": str(venv), "PATH": path}

    def install(self, *requirements: str) -> None:
        options = ("--quiet", "--no-sources", "--python", self.python, "--constraints", str(self.constraints))
        run(UV, "pip", "install", *options, *requirements)

    def run_python(self, *arguments: str, show: str = "") -> str:
        return run(self.python, *arguments, cwd=self.work, env=self.variables, show=show)


def check_imports(member: Member, environment: Alone) -> list[str]:
    try:
        environment.run_python(str(ROOT / ".ci" / "check_imports.py"), member.name)
    except CommandError as exc:
        return str(exc).splitlines()
    return []


def run_tests(member: Member, environment: Alone) -> tuple[list[str], str]:
    """What is wrong, and pytest's last line, which counts."""
    if not member.tests.is_dir():
        return ["there is no tests folder"], "no tests"
    shutil.copy(ROOT / "pyproject.toml", environment.work)  # the pytest settings
    shutil.copytree(member.tests, environment.work / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    try:
        printed = environment.run_python(
            "-m", "pytest", "-q", "-m", "not service", "-p", "no:cacheprovider", "tests", show=member.name
        )
    except CommandError as exc:
        return ["its tests do not pass alone, see above"], str(exc).rpartition("\n")[2]
    return [], printed.rpartition("\n")[2]


def prove(member: Member, wheel: Path, constraints: Path, work: Path) -> Result:
    print(f"testing {member.name} {member.version} alone", flush=True)
    start = time.monotonic()
    problems, tests = check_files(member, wheel), "not tested"
    group = ("--group", f"{member.folder / 'pyproject.toml'}:test") if member.has_test_group else ()
    work.mkdir()
    try:
        environment = Alone(work, constraints)
        environment.install(member.requirement(wheel))
        problems += check_imports(member, environment)  # before the test tools: they are not declared
        environment.install(member.requirement(wheel), *TEST_TOOLS, *group)
        failures, tests = run_tests(member, environment)
        problems += failures
    except CommandError as exc:
        problems.append(f"cannot be installed: {exc}")
    return Result(member, problems, tests, time.monotonic() - start)


def summarise(results: list[Result]) -> None:
    for result in results:
        for problem in result.problems:
            print(f"\n✗ {result.member.name}: {problem}")
    print()
    width = max(len(result.member.name) for result in results)
    for result in results:
        mark = "✗" if result.problems else "✓"
        name, version = result.member.name, result.member.version
        print(f"{mark} {name:{width}}  {version:8}  {result.seconds:5.1f} s  {result.tests}")


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="floe-wheels-") as temporary:
        work = Path(temporary)
        constraints = work / "constraints.txt"
        try:
            built = {member: build(member, work / "wheels") for member in find_members()}
            write_constraints(constraints, built)
        except CommandError as exc:
            print(exc, file=sys.stderr)
            return 1
        with ThreadPoolExecutor(AT_ONCE) as pool:
            proofs = [  # the longest first: whoever is last works alone
                pool.submit(prove, item, wheel, constraints, work / item.name)
                for item, wheel in reversed(built.items())
            ]
            results = [proof.result() for proof in reversed(proofs)]
    summarise(results)
    return 1 if any(result.problems for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
