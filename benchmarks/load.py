"""Load, measured: clients that ask, upload and delete, against the service for a while.

    python benchmarks/load.py --minutes 60
    python benchmarks/load.py --minutes 60 --restarts 2

Starts the service over the database that all commands use, with a corpus of the demo's documents
and the demo's graph. Of ten requests of a client seven are questions, one asks the graph, one loads
a document of its own and one deletes one of its own. What an upload was acknowledged for must be
listed at the end, and nothing that was deleted. With `--restarts` the service is killed so often in
between, and started again; what was on its way then is asked again.

Prints Markdown: requests and times by kind, errors, what was lost, and the memory of the service
and of the database each minute. A 429 is what the service promises under too much; it is counted,
waited for and asked again, and its waiting is part of the time.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import _common as common
import psutil
import requests

from kgp_neo4j.demo import prepare, prepare_graph
from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.graphdb.open import open_database

#: Loads of a client go to the corpus of its number, so that several are written at once.
_CORPORA = ("load one", "load two")
_QUESTIONS = (
    "Who designed the bridge that replaced the ferry?",
    "Why did the designer of the Hesk Bridge become an engineer?",
    "Which light in Table 1 has the greatest height?",
    "What does the engineer's notebook say about the storm?",
)
_SYMPTOMS = ("I feel tired and dizzy. What can it be?", "What helps against headache and fever?")
#: Seconds until a request is given up and counted as an error, and between two looks at memory.
_PATIENCE, _LOOK = 60, 10


class Service:
    """The service as a process, which can be killed and started again at the same address."""

    def __init__(self, log: Path) -> None:
        self._log = log
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        """Start it and wait until it answers."""
        command = [sys.executable, "-m", "kgp_neo4j.cli", "serve", "--port", str(self.port)]
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(command, stderr=log)
        for _ in range(600):
            try:
                if requests.get(f"{self.address}/healthz", timeout=5).ok:
                    return
            except (requests.ConnectionError, requests.Timeout):
                time.sleep(0.2)
        raise SystemExit("the service does not start")

    def restart(self) -> None:
        """Kill it, whatever it is doing, and start it again."""
        self.process.kill()
        self.process.wait()
        self.start()

    def stop(self) -> None:
        """End it as a person would."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)


class Client(threading.Thread):
    """One client: asks, loads and deletes until the time is over."""

    def __init__(
        self, number: int, service: Service, until: float, pause: float, seed: int
    ) -> None:
        super().__init__(daemon=True)
        self._draw = random.Random(seed * 1000 + number)
        self._number, self._service = number, service
        self._until, self._pause = until, pause
        self._session = requests.Session()
        self.corpus = _CORPORA[number % len(_CORPORA)]
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.wrong: list[str] = []
        self.again: Counter[str] = Counter()
        #: Titles of documents that were acknowledged and not deleted, and those deleted.
        self.there: set[str] = set()
        self.gone: set[str] = set()
        self._made = 0

    def run(self) -> None:
        """Send requests until the time is over."""
        while time.monotonic() < self._until:
            kind = self._draw.choices(("ask", "map", "load", "delete"), (7, 1, 1, 1))[0]
            if kind == "delete" and not self.there:
                kind = "ask"
            began = time.monotonic()
            try:
                getattr(self, f"do_{kind}")()
            except Exception as error:
                self.wrong.append(f"{kind}: {type(error).__name__} {error}"[:200])
            self.seconds[kind].append(time.monotonic() - began)
            time.sleep(self._draw.uniform(0, 2 * self._pause))

    def do_ask(self) -> None:
        corpus = self._draw.choice(("demo", self.corpus))
        body = {"question": self._draw.choice(_QUESTIONS), "corpus": corpus}
        self._send("POST", self._draw.choice(("/ask", "/retrieve")), json=body)

    def do_map(self) -> None:
        body = {"question": self._draw.choice(_SYMPTOMS), "graph": "demo"}
        self._send("POST", "/mindmap", json=body)

    def do_load(self) -> None:
        self._made += 1
        name = f"client-{self._number}-{self._made}.txt"
        text = " ".join(
            f"The {self._draw.choice(('ferry', 'light', 'yard', 'quarry'))} number "
            f"{self._draw.randrange(10**6)} of client {self._number} lies at Port "
            f"{self._draw.choice('ABCDEFGH')}{self._draw.randrange(1000)}."
            for _ in range(self._draw.randint(3, 40))
        )
        self._send(
            "POST", "/documents", params={"corpus": self.corpus, "name": name}, data=text.encode()
        )
        self.there.add(name.removesuffix(".txt"))

    def do_delete(self) -> None:
        title = self._draw.choice(sorted(self.there))
        found = self._send("GET", "/documents", params={"corpus": self.corpus})
        (key,) = [each["id"] for each in found["documents"] if each["title"] == title]
        self._send("DELETE", f"/documents/{key}", (404,), params={"corpus": self.corpus})
        self.there.remove(title)
        self.gone.add(title)

    def _send(self, method: str, path: str, fine: tuple[int, ...] = (), **given: Any) -> Any:
        """Send a request until it is answered; a busy or restarted service is asked again.

        What was sent may have been done although its answer was lost, so `fine` are further
        statuses that are no error the second time.
        """
        until = time.monotonic() + _PATIENCE
        lost = False
        while True:
            try:
                reply = self._session.request(
                    method, f"{self._service.address}{path}", timeout=_PATIENCE, **given
                )
            except requests.ConnectionError:
                lost = True
                self.again["lost"] += 1
                wait = 0.5
            else:
                if reply.ok or (lost and reply.status_code in fine):
                    return reply.json()
                if reply.status_code not in (429, 503):
                    raise RuntimeError(f"{path}: {reply.status_code} {reply.text[:100]}")
                self.again[str(reply.status_code)] += 1
                wait = float(reply.headers.get("retry-after", 1))
            if time.monotonic() + wait > until:
                raise RuntimeError(f"{path}: not answered in {_PATIENCE} s")
            time.sleep(wait * self._draw.uniform(0.5, 1.0))


def memory(process: psutil.Process) -> float:
    """Return the memory of a process in MB, 0 where it has just been restarted."""
    try:
        return process.memory_info().rss / 1e6
    except psutil.NoSuchProcess:
        return 0.0


def main() -> None:
    """Run the clients and print what they met."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--clients", type=common.positive, default=16)
    parser.add_argument("--pause", type=float, default=0, help="seconds of a client, on average")
    parser.add_argument("--restarts", type=int, default=0, help="so often the service is killed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", type=Path, default=Path(os.devnull), help="the service's log")
    given = parser.parse_args()
    with open_database() as database:
        prepare(database, "demo")
        prepare_graph(database, "demo")
    args = str(Folders.from_environment().home / "run" / "server.args")
    server = next(p for p in psutil.process_iter(["cmdline"]) if args in str(p.info["cmdline"]))
    service = Service(given.log)
    for name in _CORPORA:
        requests.delete(f"{service.address}/corpora/{name}", timeout=60)
        requests.post(
            f"{service.address}/documents",
            params={"corpus": name, "name": "first.txt"},
            data=b"The Hesk Bridge replaced the ferry.",
            timeout=60,
        ).raise_for_status()
    began = time.monotonic()
    until = began + given.minutes * 60
    clients = [Client(n, service, until, given.pause, given.seed) for n in range(given.clients)]
    for client in clients:
        client.start()
    breaks = [
        began + (n + 1) * given.minutes * 60 / (given.restarts + 1) for n in range(given.restarts)
    ]
    looks: list[tuple[float, float, float]] = []
    while any(client.is_alive() for client in clients):
        time.sleep(_LOOK)
        now = time.monotonic()
        if breaks and now > breaks[0]:
            breaks.pop(0)
            service.restart()
        own = psutil.Process(service.process.pid)
        looks.append(((now - began) / 60, memory(own), memory(server)))
    listed: dict[str, set[str]] = {}
    for name in _CORPORA:
        reply = requests.get(f"{service.address}/documents", params={"corpus": name}, timeout=60)
        listed[name] = {each["title"] for each in reply.json()["documents"]}
    service.stop()

    print(
        f"{common.described()}; {given.clients} clients, {given.minutes:g} minutes, "
        f"{given.pause:g} s of pause, {given.restarts} restarts\n"
    )
    print("| request | number | p50 s | p95 s | longest s |")
    print("|---|---|---|---|---|")
    whole = [s for client in clients for kind in client.seconds.values() for s in kind]
    for kind in ("ask", "map", "load", "delete", "all"):
        taken = [s for c in clients for s in c.seconds[kind]] if kind != "all" else whole
        if len(taken) > 1:
            cuts = statistics.quantiles(taken, n=20)
            print(
                f"| {kind} | {len(taken):,} | {cuts[9]:.2f} | {cuts[18]:.2f} | {max(taken):.1f} |"
            )
    again: Counter[str] = sum((client.again for client in clients), Counter())
    wrong = [each for client in clients for each in client.wrong]
    lost = [t for c in clients for t in c.there if t not in listed[c.corpus]]
    back = [t for c in clients for t in c.gone if t in listed[c.corpus]]
    minutes = (time.monotonic() - began) / 60
    print(f"\n{len(whole) / minutes / 60:.1f} requests a second; {len(wrong)} errors; asked again: "
          f"{dict(again) or 'never'}; acknowledged documents that are not there: {len(lost)}; "
          f"deleted ones that are: {len(back)}\n")  # fmt: skip
    for said, count in Counter(wrong).most_common(5):
        print(f"- {count} x {said}")
    print("\n| minute | service MB | database MB |\n|---|---|---|")
    for at in range(0, len(looks), max(1, len(looks) // 12)):
        print(f"| {looks[at][0]:.0f} | {looks[at][1]:.0f} | {looks[at][2]:.0f} |")


if __name__ == "__main__":
    main()
