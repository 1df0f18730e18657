"""Attack a service that runs, and tell what holds: connections, bodies, questions, files, changes.

    kgp-neo4j serve &
    python benchmarks/attack.py http://127.0.0.1:7480 --corpus NAME --minutes 20

NAME is a corpus with documents, which is asked; files are loaded into another, and deleted. The
longest wait for `/healthz` during each attack is told. Prints Markdown.
"""

import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
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


def main() -> None:
    """Attack in all ways, one after another."""
    parser = common.plain_parser(__doc__, "is the service's address")
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--minutes", type=float, default=20.0, help="of questions beside changes")
    given = parser.parse_args()
    address, other = str(given.folder).replace(":/", "://"), f"{given.corpus} attacked"
    host, port = address.rpartition("/")[2].split(":")

    def call(method: str, path: str, **more: Any) -> str:
        """Send a request; return its status, or what kept it from an answer."""
        try:
            return str(requests.request(method, address + path, timeout=120, **more).status_code)
        except requests.RequestException as error:
            return type(error).__name__

    def ask(question: str) -> str:
        return call("POST", "/ask", json={"question": question, "corpus": given.corpus})

    def load(name: str, data: bytes) -> str:
        return call("POST", "/documents", params={"corpus": other, "name": name}, data=data)

    def hold(count: int, data: bytes) -> dict[str, int]:
        """Open connections that send no more than this; return how many are held for a minute."""
        with ExitStack() as held:
            sockets = [
                held.enter_context(socket.create_connection((host, int(port)), 10))
                for _ in range(count)
            ]
            end, open_ = time.monotonic() + 60, count
            for each in sockets:
                with suppress(ConnectionError):
                    each.sendall(data)
            for each in sockets:
                each.settimeout(max(0.01, end - time.monotonic()))
                with suppress(TimeoutError):
                    with suppress(ConnectionError):
                        while each.recv(4096):
                            pass
                    open_ -= 1
            return {"held for a minute": open_}

    def ask_beside_changes() -> Counter[str]:
        end, told = time.monotonic() + 60 * given.minutes, Counter[str]()

        def asks(first: int) -> None:
            while time.monotonic() < end:
                told[ask(f"What is said of {first} and {time.monotonic_ns() % 97}?")] += 1

        with ThreadPoolExecutor(3) as threads:
            asking = threads.map(asks, range(3))
            while time.monotonic() < end:
                for n in range(3):
                    told[f"load {load(f'{n}.md', f'# Tower {n}{chr(10)}It stands.'.encode())}"] += 1
                told[f"delete {call('DELETE', f'/corpora/{other}')}"] += 1
            deque(asking)
        return told

    attacks: dict[str, Callable[[], dict[str, int]]] = {
        "1,100 half heads": lambda: hold(1100, _HALF),
        "200 bodies that stop": lambda: hold(200, _HALF + b"\r\n{"),
        "questions of 10,000 characters": lambda: Counter(
            ask(f"a{mark * (9998 // len(mark))}b") for mark in _MARKS
        ),
        "1 MB of one tag": lambda: Counter(
            load(f"{n}.html", tag.encode() * (2**20 // len(tag))) for n, tag in enumerate(_TAGS)
        ),
        "a page of tiles": lambda: Counter([load("tiles.pdf", _TILES)]),
        "questions beside loads and deletions": ask_beside_changes,
    }
    rows, waits, is_over = [], [0.0], threading.Event()

    def look() -> None:
        while not is_over.wait(0.5):
            began = time.perf_counter()
            is_well = call("GET", "/healthz") == "200"
            waits.append(time.perf_counter() - began if is_well else float("inf"))

    threading.Thread(target=look, daemon=True).start()
    for name, attack in attacks.items():
        waits[:], began = [0.0], time.perf_counter()
        told = ", ".join(f"{count} {what}" for what, count in attack().items())
        rows.append((name, told, round(time.perf_counter() - began, 1), round(max(waits), 2)))
        common.say(f"{name}: {told}")
    is_over.set()
    header = ("attack", "what came of it", "seconds", "longest wait for /healthz, s")
    print(f"{common.described()}\n\n{common.markdown(header, rows)}")


if __name__ == "__main__":
    main()
