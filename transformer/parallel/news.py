"""What processes tell each other beside what they exchange: that they wait, have failed, or have ended.

It goes by messages of its own, which who waits looks for. A process that is killed says nothing: on the same computer
that is seen by its number, elsewhere it is for the launcher to end the job, or for the time that a wait may take.
"""

from __future__ import annotations

import json
import os
import socket
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

WAITS, LOST, LEFT = "waits", "lost", "left"
LONGEST = 4000                          # characters of a message
BETWEEN_COUNTS = 0.2                    # seconds between two looks at who is alive


class ProcessError(RuntimeError):
    """Another process has failed, has ended, or does not respond."""

    __module__ = "transformer.distributed"


@dataclass
class Notice:
    """What a process has said of itself: a kind, how many exchanges others can have with it, and a text."""

    kind: str
    exchange: int
    text: str


class News:
    """Messages to and from all other processes, over a communicator of their own."""

    def __init__(self, mpi: Any, comm: Any) -> None:
        self.mpi, self.comm = mpi, comm
        self.index, self.count = comm.Get_rank(), comm.Get_size()
        self.heard: dict[tuple[int, str], Notice] = {}
        self._sent: list[tuple[Any, Any]] = []
        self._counted = 0.0
        self.neighbours = self._on_this_computer()

    def send(self, kind: str, exchange: int, text: str) -> None:
        content = json.dumps(asdict(Notice(kind, exchange, text[:LONGEST]))).encode()
        self._sent = [(request, kept) for request, kept in self._sent if not request.Test()]
        for other in range(self.count):
            if other != self.index:
                self._sent.append((self.comm.Isend([content, self.mpi.BYTE], other), content))

    def receive(self) -> None:
        """Takes in what has come; of each kind the last of a process is kept."""
        status = self.mpi.Status()
        while self.comm.Iprobe(self.mpi.ANY_SOURCE, self.mpi.ANY_TAG, status):
            content = bytearray(status.Get_count(self.mpi.BYTE))
            self.comm.Recv([content, self.mpi.BYTE], status.Get_source())
            notice = Notice(**json.loads(content))
            self.heard[status.Get_source(), notice.kind] = notice

    def waits_at(self, exchange: int) -> list[int]:
        """The processes that have said that they wait at this exchange."""
        return [who for (who, kind), notice in self.heard.items() if kind == WAITS and notice.exchange == exchange]

    def reason_to_stop(self, exchange: int) -> str | None:
        """Why an exchange will never be complete, if somebody has said, or has died."""
        for kind, verb in ((LOST, "failed in"), (LEFT, "ended:")):
            for (who, said), notice in self.heard.items():
                if said == kind and notice.exchange < exchange:
                    return f"process {who} has {verb} {notice.text}"
        dead = self.dead()
        return None if dead is None else f"process {dead} has died"

    def left(self) -> list[int]:
        """The processes that have come to their end."""
        return [who for who, kind in self.heard if kind == LEFT]

    def dead(self) -> int | None:
        """A process of this computer that has ended without saying so."""
        now = time.monotonic()
        if now - self._counted < BETWEEN_COUNTS:
            return None
        self._counted = now
        gone = [who for who, number in self.neighbours if not is_alive(number)]
        self.receive()
        return next((who for who in gone if (who, LEFT) not in self.heard), None)

    def finish(self) -> None:
        """Lets messages arrive that were sent last."""
        self.mpi.Request.Waitall([request for request, _ in self._sent])

    def _on_this_computer(self) -> list[tuple[int, int]]:
        """The other processes here, with their numbers."""
        own = computer()
        found = self.comm.allgather((own, os.getpid()))
        return [(who, number) for who, (where, number) in enumerate(found) if where == own and who != self.index]


def computer() -> str:
    """What tells computers apart, and what sees other numbers of processes on the same one."""
    try:
        started = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{socket.gethostname()} {started} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return socket.gethostname()


def is_alive(number: int) -> bool:
    """Whether a process of this computer is there, and not only its number."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return not Path("/proc/self/stat").exists()         # where there is no such folder, nobody knows
    except OSError:
        return True
