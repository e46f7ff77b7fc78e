"""The root of `floe`: what starts, how little it loads, and every way a command can end."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import floe_cli
from floe_cli.main import COMMANDS, ELSEWHERE

Run = Callable[..., subprocess.CompletedProcess[str]]
StartupCode = Callable[[str], str]

HEAVY = ("pydantic", "yaml", "pyspark", "pyiceberg", "dbt", "datacontract", "rich", "typer")


def errors_of(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    report = json.loads(done.stdout)
    assert report["exit_code"] == done.returncode
    assert report["findings"] == []
    errors: list[dict[str, Any]] = report["errors"]
    return errors


def assert_no_traceback(text: str) -> None:
    for trace in ("Traceback", "Exception ignored", 'File "', "BrokenPipe"):
        assert trace not in text


# Starting


def test_the_version_is_that_of_the_installed_package(floe: Run) -> None:
    done = floe("--version")
    assert (done.returncode, done.stdout) == (0, f"floe {metadata.version('floe-cli')}\n")
    assert floe_cli.__version__ == metadata.version("floe-cli")


@pytest.mark.parametrize("args", [("--help",), ("-h",), ()])
def test_help_names_every_command(floe: Run, args: tuple[str, ...]) -> None:
    done = floe(*args)
    assert (done.returncode, done.stderr) == (0, "")
    shown = dict(re.findall(r"^  ([a-z]+)  +(.+)$", done.stdout, re.MULTILINE))
    assert shown == COMMANDS


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ELSEWHERE])
def test_every_command_has_help_that_starts_with_what_the_root_says(floe_here: Run, name: str) -> None:
    done = floe_here(name, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"Usage: floe {name} ")


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_starting_imports_nothing_heavy(floe: Run, option: str) -> None:
    done = floe(option, PYTHONPROFILEIMPORTTIME="1")
    imported = re.findall(r"\| +([\w.]+)$", done.stderr, re.MULTILINE)
    assert "click" in imported
    assert [name for name in imported if name.split(".")[0] in HEAVY] == []
    assert [name for name in imported if name.startswith(("floe_core.", "floe_cli.commands"))] == []


def test_explaining_a_code_needs_no_schema_and_no_parser(floe: Run) -> None:
    done = floe("explain", "E160", PYTHONPROFILEIMPORTTIME="1")
    imported = re.findall(r"\| +([\w.]+)$", done.stderr, re.MULTILINE)
    assert "floe_core.codes" in imported
    assert [name for name in imported if name.split(".")[0] in HEAVY] == []


# Wrong usage: FLOE-E001

FILES = ("manifest", "product", "artifacts", "run", "report")
SCHEMA = "Run `floe schema --help`."


@pytest.mark.parametrize(
    ("args", "message", "fix"),
    [
        (["compil"], "There is no command 'compil'. Did you mean compile?", "Run `floe --help`."),
        (["xyz"], f"There is no command 'xyz'. Commands: {', '.join(COMMANDS)}.", "Run `floe --help`."),
        (["--nope"], "No such option '--nope'.", "Run `floe --help`."),
        (["compile", "--nope"], "No such option '--nope'.", "Run `floe compile --help`."),
        (["explain"], "Missing argument 'CODE'.", "Run `floe explain --help`."),
        (["schema"], f"Missing argument '{{{'|'.join(FILES)}}}'. Choose from: {', '.join(FILES)}", SCHEMA),
        (["plugins", "lst"], "No such command 'lst'. Did you mean 'list'?", "Run `floe plugins --help`."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_wrong_usage_is_a_finding_with_the_command_that_helps(
    floe_here: Run, args: list[str], message: str, fix: str
) -> None:
    done = floe_here(*args)
    assert (done.returncode, done.stderr) == (2, "")
    assert (
        done.stdout == f"✗ FLOE-E001 (command line):1:1  {message}\n    Fix: {fix}\n    floe explain FLOE-E001\n\n"
    )


@pytest.mark.parametrize("output", [["--format", "json"], ["--format=json"]])
def test_wrong_usage_is_a_report_when_a_report_was_asked_for(floe_here: Run, output: list[str]) -> None:
    done = floe_here("compile", "--nope", *output)
    [error] = errors_of(done)
    assert (done.returncode, error["code"], error["line"]) == (2, "FLOE-E001", 1)
    assert json.loads(done.stdout)["command"] == "floe compile"


def test_a_product_called_json_asks_for_no_report(floe_here: Run) -> None:
    done = floe_here("compile", "json", "--format", "text", "--nope")
    assert done.stdout.startswith("✗ FLOE-E001")


def test_a_group_without_a_command_shows_its_help_and_fails(floe_here: Run) -> None:
    done = floe_here("plugins")
    assert done.returncode == 2
    assert done.stdout.startswith("Usage: floe plugins ")


# A bug in floe: FLOE-E000

BUG = """
    import floe_core.compile

    def compile_project(root, env, run):
        raise ZeroDivisionError("a bug, for once on purpose")

    floe_core.compile.compile_project = compile_project
"""


@pytest.mark.parametrize("output", ["text", "json"])
def test_a_bug_is_one_message_and_a_log_file(
    floe: Run, startup_code: StartupCode, tmp_path: Path, output: str
) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    args = ("compile", "customer-360", "--format", output)
    done = floe(*args, PYTHONPATH=startup_code(BUG), TMPDIR=str(logs))
    assert done.returncode == 70
    assert_no_traceback(done.stdout + done.stderr)
    [log] = logs.glob("floe-*.log")
    fix = f"Please report this with the log: {log}"
    if output == "json":
        [error] = errors_of(done)
        assert (error["code"], error["fix"]) == ("FLOE-E000", fix)
    else:
        assert "✗ FLOE-E000 (command line):1:1  ZeroDivisionError: a bug, for once on purpose\n" in done.stdout
        assert f"    Fix: {fix}\n" in done.stdout
    kept = log.read_text(encoding="utf-8")
    assert kept.startswith(f"floe {' '.join(args)}\n\nTraceback (most recent call last):\n")
    assert 'in compile_project\n    raise ZeroDivisionError("a bug' in kept


def test_a_bug_where_no_log_can_be_written_is_still_one_message(floe: Run, startup_code: StartupCode) -> None:
    nowhere = f"{BUG}\n    import tempfile\n    tempfile.tempdir = '/nowhere/at/all'\n"
    done = floe("compile", "customer-360", PYTHONPATH=startup_code(nowhere))
    assert done.returncode == 70
    assert "Fix: Please report this. The log could not be written: " in done.stdout
    assert_no_traceback(done.stdout + done.stderr)


# Ends that come from outside

WAITS = """
    import signal
    import floe_core.compile

    def compile_project(root, env, run):
        signal.signal(signal.SIGINT, signal.default_int_handler)
        print("ready", flush=True)
        signal.pause()

    floe_core.compile.compile_project = compile_project
"""


def test_an_interrupt_ends_the_command_without_a_traceback(
    floe_script: str, mesh: Path, environment: dict[str, str], startup_code: StartupCode
) -> None:
    with subprocess.Popen(
        [floe_script, "compile", "customer-360"],
        cwd=mesh,
        env=environment | {"PYTHONPATH": startup_code(WAITS)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out, err) == (130, "", "\nInterrupted.\n")


@contextmanager
def pipe_that_nobody_reads() -> Iterator[int]:
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


@pytest.mark.parametrize(
    "args",
    ["compile customer-360", "compile customer-360 --format=json", "schema manifest", "explain E160", "bogus"],
)
def test_a_reader_that_left_ends_the_command_in_silence(
    floe_script: str, mesh: Path, environment: dict[str, str], args: str
) -> None:
    with pipe_that_nobody_reads() as writer:
        done = subprocess.run(
            [floe_script, *args.split()],
            cwd=mesh,
            env=environment,
            stdout=writer,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
    assert done.returncode == 141  # never 0: what nobody saw has not passed
    assert_no_traceback(done.stderr)


def test_a_closed_output_changes_no_exit_code(floe_script: str, mesh: Path, environment: dict[str, str]) -> None:
    for args, code in (("compile customer-360", 0), ("compile gone", 2)):
        shell = f"{floe_script} {args} >&-"
        done = subprocess.run(["sh", "-c", shell], cwd=mesh, env=environment, capture_output=True, encoding="utf-8")
        assert done.returncode == code
        assert_no_traceback(done.stderr)


@pytest.mark.parametrize(
    "args", ["compile customer-360", "compile gone --format=json", "schema manifest", "--version", "bogus"]
)
def test_output_that_cannot_be_written_is_said_and_never_looks_like_findings(
    floe_script: str, mesh: Path, environment: dict[str, str], args: str
) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [floe_script, *args.split()],
            cwd=mesh,
            env=environment,
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        silent = subprocess.run([floe_script, *args.split()], cwd=mesh, env=environment, stdout=full, stderr=full)
    assert (done.returncode, silent.returncode) == (2, 2)
    assert "✗ FLOE-E900 (output):1:1  the output cannot be written: No space left on device\n" in done.stderr
    assert_no_traceback(done.stderr)


def test_a_current_folder_that_was_deleted_is_said(
    floe_script: str, mesh: Path, environment: dict[str, str]
) -> None:
    shell = f"mkdir gone && cd gone && rmdir ../gone && {floe_script} compile --format json"
    done = subprocess.run(["sh", "-c", shell], cwd=mesh, env=environment, capture_output=True, encoding="utf-8")
    [error] = errors_of(done)
    assert (error["code"], error["message"]) == ("FLOE-E100", "the current folder is gone")


# What a terminal gets


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"LC_ALL": "C"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
        {"PYTHONIOENCODING": "utf-16"},
    ],
    ids=lambda variables: ",".join(f"{name}={value}" for name, value in variables.items()) or "default",
)
def test_output_is_utf_8_whatever_the_locale(floe: Run, mesh: Path, variables: dict[str, str]) -> None:
    newer = "apiVersion: floe.dev/v1\nkind: Manifest\nrequired_floe_version: '>=99.0'\n"
    (mesh / "enterprise.yaml").write_text(newer, encoding="utf-8")
    done = floe("compile", "customer-360", **variables)
    assert done.stdout.startswith("✗ FLOE-E120 enterprise.yaml:3:24  needs floe ≥ 99.0")
    assert_no_traceback(done.stderr)
    [error] = errors_of(floe("compile", "customer-360", "--format=json", **variables))
    assert error["message"].startswith("needs floe ≥ 99.0")


def test_a_name_that_is_not_utf_8_is_shown_as_well_as_can_be(
    floe_script: str, mesh: Path, environment: dict[str, str]
) -> None:
    done = subprocess.run(
        [floe_script.encode(), b"compile", b"caf\xe9"], cwd=mesh, env=environment, capture_output=True
    )
    assert done.returncode == 2
    assert done.stdout.decode().startswith("✗ FLOE-E100 caf?:1:1  caf? does not exist\n")


def on_a_terminal(command: list[str], cwd: Path, environment: dict[str, str]) -> str:
    """What the command shows on a terminal of its own."""
    ours, theirs = pty.openpty()
    shown = b""
    with subprocess.Popen(command, cwd=cwd, env=environment, stdout=theirs, stderr=theirs):
        os.close(theirs)
        try:
            while data := os.read(ours, 65536):
                shown += data
        except OSError:  # how Linux says that the other end is closed
            pass
    os.close(ours)
    return shown.decode()


def test_a_terminal_gets_colours_and_a_pipe_gets_none(
    floe: Run, floe_script: str, mesh: Path, environment: dict[str, str]
) -> None:
    assert "\x1b[" in on_a_terminal([floe_script, "compile", "gone"], mesh, environment)
    done = floe("compile", "gone")
    assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.parametrize("plain", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_that_wants_or_knows_no_colours_gets_none(
    floe_script: str, mesh: Path, environment: dict[str, str], plain: dict[str, str]
) -> None:
    shown = on_a_terminal([floe_script, "compile", "gone"], mesh, environment | plain)
    assert "FLOE-E100" in shown
    assert "\x1b" not in shown


def test_what_a_file_is_called_or_says_never_steers_the_terminal(
    floe_script: str, mesh: Path, environment: dict[str, str]
) -> None:
    product = (mesh / "customer-360").rename(mesh / "x\x1b[2J")
    said = 'apiVersion: floe.dev/v1\nkind: DataProduct\nmetadata: {name: "x\\n✓ all is well", version: "1.0"}\n'
    (product / "floe.yaml").write_text(said, encoding="utf-8")
    shown = on_a_terminal([floe_script, "compile", product.name], mesh, environment)
    assert "\x1b[2J" not in shown
    assert r"x\x1b[2J/floe.yaml:3:18" in shown
    assert r"x\n✓ all is well is not a name" in shown


def test_a_shell_can_ask_for_completions(floe: Run) -> None:
    done = floe(_FLOE_COMPLETE="bash_complete", COMP_WORDS="floe co", COMP_CWORD="1")
    assert "plain,compile" in done.stdout.splitlines()
