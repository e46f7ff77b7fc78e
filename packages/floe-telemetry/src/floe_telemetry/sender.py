"""A thread that delivers what is in the spool, so that no run waits for a lineage backend."""

from __future__ import annotations

import threading
import time
from typing import Final

from floe_telemetry.backend import Connection, Sent
from floe_telemetry.spool import Spool

FIRST_RETRY: Final = 1.0  # seconds; doubled each time, up to
LAST_RETRY: Final = 30.0
GRACE: Final = 0.05  # seconds for the thread to notice that it was aborted


class Sender:
    """Delivers in the background, in order, until it is closed."""

    def __init__(self, connection: Connection, spool: Spool) -> None:
        self.delivered = 0
        self.rejected = 0
        self._connection = connection
        self._spool = spool
        self._wake = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="floe-lineage", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """There is something new."""
        self._wake.set()

    def close(self, deadline: float) -> str:
        """Deliver what can be delivered until the deadline, in time.monotonic(); why something is left, or ""."""
        self._closing.set()
        self._wake.set()
        self._thread.join(max(0.0, deadline - time.monotonic()))
        if self._thread.is_alive():
            self._connection.abort()
            self._thread.join(GRACE)
            return f"{self._connection.backend.address}: no answer in time"
        return self._connection.reason if self._spool.pending() else ""

    def _run(self) -> None:
        self._spool.adopt()
        retry = FIRST_RETRY
        while True:
            last = self._closing.is_set()
            self._wake.clear()
            if self._deliver():
                retry, pause = FIRST_RETRY, None
            else:
                retry, pause = min(retry * 2, LAST_RETRY), retry
            if last:
                break
            self._rest(pause)
        self._connection.close()

    def _rest(self, pause: float | None) -> None:
        """Until there is something new; with a backend that is down, until it is worth another try."""
        if self._closing.is_set():
            return
        if pause is None:
            self._wake.wait()
        else:
            self._closing.wait(pause)

    def _deliver(self) -> bool:
        """Whether the backend took, or refused for good, everything that waited."""
        for entry in self._spool.pending():
            event = entry.read()
            if event is None:
                continue
            match self._connection.send(event):
                case Sent.DELIVERED:
                    self._spool.done(entry)
                    self.delivered += 1
                case Sent.REJECTED:
                    self._spool.reject(entry)
                    self.rejected += 1
                case Sent.UNAVAILABLE:
                    return False
        return True
