"""Attack a service that runs, and tell what holds: connections, bodies, questions, files, changes.

    kgp-neo4j serve &
    python benchmarks/attack.py http://127.0.0.1:7480 --corpus NAME --minutes 20

NAME is a corpus with documents, which is asked; files are loaded into another, and deleted. The
longest wait for `/healthz` during each attack is told. Prints Markdown.
"""

import select
import socket
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import _common as common
import requests

_HALF = b"POST /ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000\r\n"
_MARKS = ("a-", '"', "'", "(", "é", "1.", "日", "A ", "of ", "? ")
_TAGS = ("<!--", "<a ", "<table>", "<span style='", "<b>", "&#x")
#: A page painted with a pattern that is repeated every thousandth of a point.
_TILES = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count"
    b" 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources"
    b"<</Pattern<</P 5 0 R>>/Font<</F 6 0 R>>>>>>endobj\n4 0 obj<</Length 78>>stream\nBT /F 12 Tf "
    b"72 700 Td (A page of tiles) Tj ET /Pattern cs /P scn 0 0 600 800 re f\nendstream endobj\n5 0 "
    b"obj<</PatternType 1/PaintType 1/TilingType 1/BBox[0 0 1 1]/XStep .001/YStep .001/Resources"
    b"<<>>/Length 12>>stream\n0 0 1 1 re f\nendstream endobj\n6 0 obj<</Type/Font/Subtype/Type1"
    b"/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n"
)


class _Service:
    """The service that is attacked: one corpus is asked, files are loaded into another."""

    def __init__(self, address: Path, corpus: str) -> None:
        self.host, port = address.name.split(":")
        self.port, self.corpus, self.other = int(port), corpus, f"{corpus} attacked"
        self.waits = [0.0]

    def call(self, method: str, path: str, **more: Any) -> str:
        """Send a request; return its status, or what kept it from an answer."""
        address = f"http://{self.host}:{self.port}{path}"
        try:
            return str(requests.request(method, address, timeout=120, **more).status_code)
        except requests.RequestException as error:
            return type(error).__name__

    def ask(self, question: str) -> str:
        return self.call("POST", "/ask", json={"question": question, "corpus": self.corpus})

    def load(self, name: str, data: bytes) -> str:
        at = {"corpus": self.other, "name": name}
        return self.call("POST", "/documents", params=at, data=data)

    def hold(self, count: int, data: bytes) -> dict[str, int]:
        """Open connections that send no more than this; return how many are held for a minute."""
        with ExitStack() as held:
            address = self.host, self.port
            opened = [held.enter_context(socket.create_connection(address)) for _ in range(count)]
            answered = select.poll()
            for each in opened:
                answered.register(each, select.POLLIN)
                with suppress(ConnectionError):
                    each.sendall(data)
            time.sleep(60)
            return {"held for a minute": count - len(answered.poll(0))}

    def ask_beside_changes(self, minutes: float) -> Counter[str]:
        """Ask in three threads while files are loaded and deleted; return what came of it."""
        end, told = time.monotonic() + 60 * minutes, Counter[str]()

        def asks(first: int) -> None:
            while time.monotonic() < end:
                told[self.ask(f"What is said of {first} and {time.monotonic_ns() % 97}?")] += 1

        with ThreadPoolExecutor(3) as threads:
            threads.map(asks, range(3))
            while time.monotonic() < end:
                for n in range(3):
                    told[f"load {self.load(f'{n}.md', b'# Tower' + b' of stone' * n)}"] += 1
                told[f"delete {self.call('DELETE', f'/corpora/{self.other}')}"] += 1
        return told

    def look(self) -> None:
        """Note how long `/healthz` is waited for, again and again."""
        while True:
            began = time.perf_counter()
            is_well = self.call("GET", "/healthz") == "200"
            self.waits.append(time.perf_counter() - began if is_well else float("inf"))
            time.sleep(0.5)


def main() -> None:
    """Attack in all ways, one after another."""
    parser = common.plain_parser(__doc__, "is the service's address")
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--minutes", type=float, default=20.0, help="of questions beside changes")
    given = parser.parse_args()
    service, rows = _Service(given.folder, given.corpus), []
    threading.Thread(target=service.look, daemon=True).start()
    questions = (f"a{mark * (9998 // len(mark))}b" for mark in _MARKS)
    pages = (tag.encode() * (2**20 // len(tag)) for tag in _TAGS)
    for name, attack in {
        "1,100 half heads": lambda: service.hold(1100, _HALF),
        "200 bodies that stop": lambda: service.hold(200, _HALF + b"\r\n{"),
        "questions of 10,000 characters": lambda: Counter(map(service.ask, questions)),
        "1 MB of one tag": lambda: Counter(service.load("a.html", page) for page in pages),
        "a page of tiles": lambda: Counter([service.load("tiles.pdf", _TILES)]),
        "questions beside changes": lambda: service.ask_beside_changes(given.minutes),
    }.items():
        service.waits, began = [0.0], time.perf_counter()
        told = ", ".join(f"{count} {what}" for what, count in attack().items())
        rows.append((name, told, time.perf_counter() - began, max(service.waits)))
        common.say(f"{name}: {told}")
    header = ("attack", "what came of it", "seconds", "longest wait for /healthz, s")
    print(f"{common.described()}\n\n{common.markdown(header, rows)}")


if __name__ == "__main__":
    main()
