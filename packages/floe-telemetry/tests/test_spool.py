"""The spool keeps what it must, drops what it may, and belongs to one run at a time."""

from __future__ import annotations

from pathlib import Path

from floe_telemetry.spool import Kind, Spool

EVENT = b"x" * 100


def kinds(spool: Spool) -> list[str]:
    return [entry.name.split(".")[1] for entry in spool.pending()]


def test_what_was_put_comes_back_in_order(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    for number in range(20):
        spool.put(str(number).encode(), Kind.EVENT)
    assert [entry.read() for entry in spool.pending()] == [str(number).encode() for number in range(20)]


def test_a_full_spool_drops_the_oldest_statuses_first(tmp_path: Path) -> None:
    spool = Spool(tmp_path, limit=1000)
    for number in range(10):
        spool.put(b"%099d" % number, (Kind.EVENT, Kind.STATUS)[number % 2])
    spool.put(EVENT, Kind.EVENT)
    left = [int(content) for entry in spool.pending() if (content := entry.read()) and content != EVENT]
    assert left == [0, 2, 4, 5, 6, 7, 8, 9]
    assert spool.dropped == {Kind.STATUS: 2, Kind.EVENT: 0}


def test_then_other_events_are_dropped_and_violations_never(tmp_path: Path) -> None:
    spool = Spool(tmp_path, limit=1000)
    spool.put(EVENT, Kind.STATUS)
    for _ in range(4):
        spool.put(EVENT, Kind.EVENT)
    for _ in range(30):
        spool.put(EVENT, Kind.VIOLATION)
    assert kinds(spool) == ["violation"] * 30
    assert spool.dropped == {Kind.STATUS: 1, Kind.EVENT: 4}


def test_room_is_made_in_what_earlier_runs_left_too(tmp_path: Path) -> None:
    earlier = Spool(tmp_path)
    for _ in range(9):
        earlier.put(EVENT, Kind.STATUS)
    earlier.close()
    spool = Spool(tmp_path, limit=1000)
    for _ in range(5):
        spool.put(EVENT, Kind.EVENT)
    assert spool.dropped[Kind.STATUS] > 0
    assert kinds(spool) == ["event"] * 5


def test_what_another_run_dropped_is_passed_over(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.put(EVENT, Kind.STATUS)
    [entry] = spool.pending()
    assert entry.path
    entry.path.unlink()
    assert entry.read() is None
    spool.done(entry)
    assert spool.pending() == []


def test_a_run_that_goes_on_keeps_its_events_to_itself(tmp_path: Path) -> None:
    first, second = Spool(tmp_path), Spool(tmp_path)
    first.put(EVENT, Kind.EVENT)
    second.adopt()
    assert second.pending() == []
    first.close()
    second.adopt()
    assert kinds(second) == ["event"]


def test_only_one_run_takes_over_what_was_left(tmp_path: Path) -> None:
    earlier = Spool(tmp_path)
    earlier.put(EVENT, Kind.EVENT)
    earlier.close()
    first, second = Spool(tmp_path), Spool(tmp_path)
    first.adopt()
    second.adopt()
    assert (len(first.pending()), len(second.pending())) == (1, 0)


def test_what_earlier_runs_left_comes_first(tmp_path: Path) -> None:
    earlier = Spool(tmp_path)
    earlier.put(b"earlier", Kind.EVENT)
    earlier.close()
    spool = Spool(tmp_path)
    spool.put(b"own", Kind.EVENT)
    spool.adopt()
    assert [entry.read() for entry in spool.pending()] == [b"earlier", b"own"]


def test_nothing_is_left_of_a_spool_that_was_delivered(tmp_path: Path) -> None:
    earlier = Spool(tmp_path / "spool")
    earlier.put(EVENT, Kind.EVENT)
    earlier.close()
    spool = Spool(tmp_path / "spool")
    spool.put(EVENT, Kind.VIOLATION)
    spool.adopt()
    for entry in spool.pending():
        spool.done(entry)
    spool.close()
    assert list((tmp_path / "spool").iterdir()) == []


def test_half_written_events_are_swept_and_never_delivered(tmp_path: Path) -> None:
    killed = Spool(tmp_path / "spool")
    killed.put(EVENT, Kind.EVENT)
    [entry] = killed.pending()
    assert entry.path
    entry.path.rename(entry.path.with_suffix(".tmp"))
    killed._boxes.popitem()[1].release()  # as the system does it for a process that is gone
    spool = Spool(tmp_path / "spool")
    spool.adopt()
    assert spool.pending() == []
    spool.close()
    assert list((tmp_path / "spool").iterdir()) == []


def test_an_event_that_will_never_be_taken_goes_and_a_violation_is_kept_aside(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.put(EVENT, Kind.EVENT)
    spool.put(EVENT, Kind.VIOLATION)
    for entry in spool.pending():
        spool.reject(entry)
    assert spool.pending() == []
    assert [path.suffix for path in tmp_path.glob("*/*")] == [".rejected"]


def test_without_a_folder_events_wait_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    spool = Spool(tmp_path / "file" / "spool")
    spool.put(EVENT, Kind.VIOLATION)
    assert [entry.read() for entry in spool.pending()] == [EVENT]
    assert "cannot be written: Not a directory" in spool.problem
