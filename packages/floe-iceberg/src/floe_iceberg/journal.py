"""The journal of a publication: what is to be done, on disk from before the first commit until after the last."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floe_core.findings import Finding, FloeError, Place
from floe_iceberg.publication import Change, Pointer, RelationKind

FORMAT = "floe-publication/1"


@dataclass(frozen=True, slots=True)
class Step:
    """One change, and the snapshots by which it is recognised."""

    change: Change
    snapshots: tuple[int, ...] = ()  # that it adds

    @property
    def target(self) -> Pointer:
        return self.change.after


class Journal:
    """The steps of one publication and which of them are done, in a file that is always whole."""

    def __init__(self, path: Path, steps: Sequence[Step], done: Sequence[Step] = ()) -> None:
        self.path = path
        self.steps = tuple(steps)
        self.done = set(done)

    @property
    def left(self) -> list[Step]:
        return [step for step in self.steps if step not in self.done]

    def advance(self, *steps: Step) -> None:
        """These are done."""
        self.done.update(steps)
        self.write()

    def retract(self, step: Step) -> None:
        """This one was undone."""
        self.done.discard(step)
        self.write()

    def write(self) -> None:
        written = [_write(step) | {"done": step in self.done} for step in self.steps]
        new = self.path.with_name(f"{self.path.name}.new")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with new.open("w", encoding="utf-8") as file:
                json.dump({"format": FORMAT, "steps": written}, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.path)
        except OSError as exc:
            raise _damaged(self.path, exc.strerror or str(exc)) from exc

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)

    @classmethod
    def read(cls, path: Path) -> Journal | None:
        """The journal of a publication that did not end; None where there is none."""
        try:
            written = json.loads(path.read_text(encoding="utf-8"))
            if written["format"] != FORMAT:
                raise _damaged(path, f"its format is {written['format']}, and this floe knows {FORMAT}")
            steps = [(_read(each), each["done"]) for each in written["steps"]]
        except FileNotFoundError:
            return None
        except OSError as exc:
            raise _damaged(path, exc.strerror or str(exc)) from exc
        except (ValueError, KeyError, TypeError) as exc:
            raise _damaged(path, "it is not a journal of floe's") from exc
        return cls(path, [step for step, _ in steps], [step for step, is_done in steps if is_done])


def _write(step: Step) -> dict[str, Any]:
    before, after = step.change.before, step.change.after
    return {
        "namespace": after.namespace,
        "name": after.name,
        "kind": after.kind,
        "before": before.location if before else None,
        "after": after.location,
        "snapshots": step.snapshots,
    }


def _read(written: Mapping[str, Any]) -> Step:
    relation = (tuple(written["namespace"]), written["name"], RelationKind(written["kind"]))
    before = Pointer(*relation, written["before"]) if written["before"] else None
    return Step(Change(before, Pointer(*relation, written["after"])), tuple(written["snapshots"]))


def _damaged(path: Path, how: str) -> FloeError:
    fix = f"Repair what the message says; if the tables are as they should be, remove {path}."
    return FloeError(
        Finding("FLOE-E732", f"the journal of a publication, {path}: {how}", Place("(catalog)"), fix=fix)
    )
