"""Publication: every relation of a run moved to its new state, or the truth about how far it got.

Nothing that a service answers is believed. After a failure each relation is read again: a lost answer may have been
a success, and what was moved is recognised by the snapshots in it. The journal on disk says what was to be done, so
that the next command goes on where a crash stopped this one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyiceberg.exceptions import (
    BadRequestError,
    NoSuchNamespaceError,
    NoSuchTableError,
    NoSuchViewError,
    ViewAlreadyExistsError,
)

from floe_core.findings import Finding, FloeError
from floe_iceberg.journal import Journal, Step
from floe_iceberg.planner import HERE, Planner, Standing
from floe_iceberg.publication import Change, Pointer, RelationKind
from floe_iceberg.registry import LASTING
from floe_iceberg.relations import Found, Relations
from floe_iceberg.updates import Json
from floe_iceberg.views import to_show
from floe_iceberg.writers import last_writer

GONE = (NoSuchNamespaceError, NoSuchTableError, NoSuchViewError, ViewAlreadyExistsError)
HOPELESS = (BadRequestError, ValueError, KeyError, NotImplementedError)  # the next command would fare no better


@dataclass(frozen=True, slots=True)
class Resumption:
    """The end of an interrupted publication: what had been published before, and what was left and is now."""

    before: tuple[Pointer, ...]
    now: tuple[Pointer, ...]


def publish(relations: Relations, changes: Sequence[Change], path: Path) -> None:
    """Move all of them, in this order where there is no transaction; `path` is the journal's file."""
    if Journal.read(path):
        fix = "Let the next command finish it first; if the tables are as they should be, remove the journal."
        message = f"an earlier publication has not ended: {path}"
        raise FloeError(Finding("FLOE-E732", message, HERE, fix=fix))
    planner = Planner(relations)
    journal = Journal(path, [step for change in changes if (step := planner.step(change))])
    if journal.steps:
        publisher = Publisher(planner, journal)
        publisher.check()
        journal.write()
        publisher.finish()


def resume(relations: Relations, path: Path) -> Resumption | None:
    """Finish what an earlier process began; None when it began nothing."""
    journal = Journal.read(path)
    if journal is None:
        return None
    publisher = Publisher(Planner(relations), journal)
    publisher.check()
    left = journal.left
    publisher.finish()
    return Resumption(
        tuple(step.target for step in journal.steps if step not in left), tuple(step.target for step in left)
    )


class Publisher:
    """One publication under way."""

    def __init__(self, planner: Planner, journal: Journal) -> None:
        self.planner = planner
        self.journal = journal
        self.relations = planner.relations
        self.failures: tuple[type[Exception], ...] = (
            *self.relations.registry.passing,
            *LASTING,
            *GONE,
            *HOPELESS,
        )

    def check(self) -> None:
        """Look where each step stands; raises FLOE-E730 when somebody else has moved one."""
        self._look(self.journal.left)

    def finish(self) -> None:
        """Do what is left, then compare the catalog with what was to be published."""
        try:
            self._do_all()
        except self.failures as exc:
            raise self._interrupted(exc) from exc
        wrong = self._differences()
        self.journal.remove()
        if wrong:
            raise FloeError(*wrong)

    def _do_all(self) -> None:
        for namespace in sorted({step.target.namespace for step in self.journal.left if step.change.is_new}):
            self.relations.make_namespace(namespace)
        tables = [step for step in self.journal.left if step.target.kind is RelationKind.TABLE]
        moved = [step for step in tables if not step.change.is_new]
        if len(moved) > 1 and self.relations.has_transactions:
            for step in tables:
                if step.change.is_new:
                    self._do(step)
            self._do_together(moved)
        for step in self.journal.left:
            self._do(step)

    def _do_together(self, steps: Sequence[Step]) -> None:
        """In one transaction, if it turns out that there is one; else nothing happens."""
        offered = True

        def act() -> None:
            nonlocal offered
            moves = [(step.change.before, step.target) for step in steps if step not in self.journal.done]
            commits = [self.planner.commit(before, after) for before, after in moves if before]
            offered = self.relations.commit_together(commits)

        self._settle(steps, act)
        if offered:
            self.journal.advance(*steps)

    def _do(self, step: Step) -> None:
        self._settle([step], lambda: self._move(step))
        self.journal.advance(step)

    def _move(self, step: Step) -> None:
        if step.target.kind is RelationKind.VIEW:
            found = self.relations.find(step.target.identifier, RelationKind.VIEW)
            change = to_show(found.metadata if found else None, self.planner.metadata(step.target))
            self.relations.put_view(step.target, change)
        elif before := step.change.before:
            self.relations.commit(self.planner.commit(before, step.target))
        else:
            self.relations.register(step.target)

    def _settle(self, steps: Sequence[Step], act: Callable[[], None]) -> None:
        """Act until it is so: every action is conditional, so one that seemed lost can be tried again."""

        def once() -> None:
            try:
                act()
            except self.failures:
                self._look(steps)
                if not self.journal.done.issuperset(steps):
                    raise

        self.relations.registry.attempt(once)

    def _look(self, steps: Sequence[Step]) -> None:
        """Note what is applied; raise when something was moved by somebody else."""
        moved: list[tuple[Step, Found | None]] = []
        for step in steps:
            found = self.relations.find(step.target.identifier, step.target.kind)
            standing = self.planner.standing(step, found)
            if standing is Standing.APPLIED and step not in self.journal.done:
                self.journal.advance(step)
            elif standing is Standing.MOVED and step not in self.journal.done:
                moved.append((step, found))
        if moved:
            raise self._conflict(moved)

    def _conflict(self, moved: Sequence[tuple[Step, Found | None]]) -> FloeError:
        self._take_back()
        self.journal.remove()
        landed = self._landed()
        return FloeError(
            *(
                Finding(
                    "FLOE-E730",
                    f"{step.target} {last_writer(found, self._base(step))} since this run began; {landed}",
                    HERE,
                    expected=step.change.before.location if step.change.before else "nothing of that name",
                    actual=found.pointer.location if found else "nothing of that name",
                )
                for step, found in moved
            )
        )

    def _base(self, step: Step) -> Json | None:
        """What the run began with, where that can still be read: another writer may have cleaned up."""
        before = step.change.before
        try:
            return self.planner.metadata(before) if before else None
        except FloeError:
            return None

    def _take_back(self) -> None:
        """New tables alone are no publication: forget those that nobody has written to since."""
        made = [step for step in self.journal.steps if step in self.journal.done]
        if any(not step.change.is_new or step.target.kind is RelationKind.VIEW for step in made):
            return
        for step in made:
            found = self.relations.find(step.target.identifier, RelationKind.TABLE)
            if found and self.planner.is_untouched(step, found):
                self.relations.unregister(step.target)
                self.journal.retract(step)

    def _interrupted(self, exc: Exception) -> FloeError:
        reason = str(exc).partition("\n")[0] or type(exc).__name__
        if isinstance(exc, HOPELESS):
            self._take_back()
            self.journal.remove()
            return FloeError(Finding("FLOE-E732", f"{self._landed()}: the catalog refuses: {reason}", HERE))
        fix = f"Run the command again: it publishes the rest first. To give that up, remove {self.journal.path}."
        return FloeError(Finding("FLOE-E732", f"{self._landed()}: {reason}", HERE, fix=fix))

    def _landed(self) -> str:
        landed = [str(step.target) for step in self.journal.steps if step in self.journal.done]
        if not landed:
            return "nothing was published"
        left = ", ".join(str(step.target) for step in self.journal.left)
        return f"published: {', '.join(landed)}; not published: {left}"

    def _differences(self) -> list[Finding]:
        """Where the catalog shows something else than it was given."""
        found = (
            (step, self.relations.find(step.target.identifier, step.target.kind)) for step in self.journal.steps
        )
        wrong = ((step, self.planner.difference(step, each)) for step, each in found)
        return [Finding("FLOE-E734", f"{step.target}: {how}", HERE) for step, how in wrong if how]
