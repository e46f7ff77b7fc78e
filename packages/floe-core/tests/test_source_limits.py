"""No file can exhaust the machine: each hostile one is answered at its place, in little time and memory.

`pytest -s` shows the table.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from yaml_corpus.hostile import CASES

MAX_MEGABYTES = 200
MAX_SECONDS = 5  # the promise is 1; the guard allows for a machine five times as slow

# One fresh Python imports floe, then forks for each file, and the kernel counts what each child uses. A child
# does not count the pages it has not touched yet, so its growth is added to what that Python holds itself.
READER = f"""
import json, os, resource, sys
from pathlib import Path
from floe_core.findings import FloeError
from floe_core.load import load_manifest

unit = 1 if sys.platform == "darwin" else 1024

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit

def held():
    status = Path("/proc/self/status")  # ru_maxrss of a started process includes whoever started it
    if not status.exists():
        return peak()
    return next(int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if "VmHWM" in line)

def read(path, pipe):
    resource.setrlimit(resource.RLIMIT_CPU, ({MAX_SECONDS}, {MAX_SECONDS}))
    before = peak()
    try:
        load_manifest(path)
        answer = ["no finding"]
    except FloeError as exc:
        first = min(exc.findings, key=lambda item: item.place)
        answer = [f"{{first.code}} {{first.line}}:{{first.column}}", first.message]
    os.write(pipe, json.dumps([peak() - before, answer]).encode())

holds = held()
for path in sorted(Path(sys.argv[1]).iterdir()):
    there, here = os.pipe()
    child = os.fork()
    if not child:
        read(path, here)
        os._exit(0)
    os.close(here)
    _, _, used = os.wait4(child, 0)
    growth, answer = json.loads(os.read(there, 65536) or '[0, ["killed"]]')
    os.close(there)
    print(json.dumps([answer, used.ru_utime + used.ru_stime, (holds + growth) / 1024 / 1024]))
"""


def test_every_hostile_file_is_answered_at_its_place_in_little_time_and_memory(tmp_path: Path) -> None:
    for number, case in enumerate(CASES):
        (tmp_path / f"{number:03}").write_bytes(case.data)
    command = [sys.executable, "-c", READER, str(tmp_path)]
    reader = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert reader.stderr == ""
    rows = [json.loads(line) for line in reader.stdout.splitlines()]
    answers, too_much = {}, []
    print()
    for case, (answer, seconds, megabytes) in zip(CASES, rows, strict=True):
        print(
            f"{case.name:36} {len(case.data):>10,} B {seconds:5.2f} s {megabytes:4.0f} MB  {' '.join(answer)[:90]}"
        )
        answers[case.name] = answer[0]
        if seconds > MAX_SECONDS or megabytes > MAX_MEGABYTES:
            too_much.append((case.name, seconds, megabytes))
    assert answers == {case.name: case.expected for case in CASES}
    assert too_much == []


def test_the_bombs_have_the_size_under_which_they_are_known() -> None:
    sizes = {case.name: len(case.data) for case in CASES}
    assert sizes["428-byte alias bomb"] == 428
    assert sizes["711-byte merge-key bomb"] == 711
