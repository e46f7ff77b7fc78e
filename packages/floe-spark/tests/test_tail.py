"""Log files are shown as they grow."""

from __future__ import annotations

from pathlib import Path

from floe_spark.tail import following


def test_only_what_is_added_is_shown_and_all_of_it(tmp_path: Path) -> None:
    old, new, said = tmp_path / "old.log", tmp_path / "new.log", list[str]()
    old.write_text("before\n")
    with following([old, new], said.append):
        with old.open("a") as log:
            log.write("one\ntwo\n")
        new.write_text("three\nhalf a line")
    assert sorted(said) == ["one", "three", "two"]


def test_a_file_that_was_begun_anew_is_read_from_its_start(tmp_path: Path) -> None:
    log, said = tmp_path / "a.log", list[str]()
    log.write_text("a long line of yesterday\n")
    with following([log], said.append):
        log.write_text("new\n")
    assert said == ["new"]
