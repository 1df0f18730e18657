"""Fetches the jars of the lock file: several at a time, resumed, verified."""

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter

from kgp_neo4j.environment.disk import disk_errors, require_free
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.graphdb.server.artifacts import Artifact, sha256_of
from kgp_neo4j.types.errors import ConfigurationError, ServerError

_THREADS = 12
_TIMEOUT = (15, 60)  # seconds to connect, seconds between two pieces
_TRIES = 4
_MORE = 1.0  # seconds more that each further try waits for
_PIECE = 64 * 1024  # bytes; a cut connection loses one at most
_CENTRAL = "https://repo.maven.apache.org/maven2"
_MIRROR = "KGP_NEO4J_MAVEN_MIRROR"


def repository() -> str:
    """Return the address of the Maven repository: what KGP_NEO4J_MAVEN_MIRROR says, or Central."""
    address = os.environ.get(_MIRROR, "").strip().rstrip("/") or _CENTRAL
    if urlsplit(address).scheme not in ("http", "https") or not urlsplit(address).hostname:
        hint = "Set it to the root of a Maven repository, or unset it."
        raise ConfigurationError(f"{_MIRROR} is not an http or https address", hint=hint)
    return address


def fetch(artifacts: list[Artifact], root: Path, what: str, echo: Callable[[str], object]) -> None:
    """Fetch `artifacts` into the folder `root`, laid out as in Maven, and verify each.

    `what` names them on the progress bar and in errors. Raises ServerError when one cannot be
    fetched; complete jars and `.part` files stay for the next run.
    """
    address, total = repository(), sum(artifact.size for artifact in artifacts)
    require_free(root, total, f"The files of {what}")
    echo(f"Fetching {len(artifacts)} jars, {total / 1e6:.0f} MB, into {root}")
    began = time.monotonic()
    with (
        requests.Session() as session,
        bar(f"Fetching {what}", total, bytes_=True) as progress,
        ThreadPoolExecutor(_THREADS, thread_name_prefix="kgp-fetch") as pool,
    ):
        session.mount(address, HTTPAdapter(pool_maxsize=_THREADS))
        stop = threading.Event()  # set where another jar has failed for good, and at the end

        def attempt(artifact: Artifact, part: Path) -> str:
            """Fetch the missing part of a jar and verify the whole; return why it failed, if so."""
            have = part.stat().st_size if part.is_file() else 0
            if have >= artifact.size:
                part.unlink()
                have = 0
            resumed = {"Range": f"bytes={have}-"} if have else {}
            headers = {"Accept-Encoding": "identity"} | resumed
            try:
                with session.get(
                    f"{address}/{artifact.path}", headers=headers, stream=True, timeout=_TIMEOUT
                ) as answer:
                    if answer.status_code not in (200, 206):
                        return f"HTTP {answer.status_code}"
                    # A server that cannot resume sends all of it.
                    with part.open("ab" if answer.status_code == 206 else "wb") as file:
                        for piece in answer.iter_content(_PIECE):
                            if stop.is_set() or file.tell() > artifact.size:
                                break  # too long: not our jar, as its SHA-256 will say
                            file.write(piece)
                            progress.update(len(piece))
            except requests.RequestException as error:
                # Only the type: the text of the error may contain an address with a password.
                return f"the connection failed, {type(error).__name__}"
            if part.stat().st_size < artifact.size:
                return "the connection was cut off"
            if sha256_of(part) != artifact.sha256:
                part.unlink()
                return "the bytes received do not match the SHA-256 of the lock file"
            part.replace(root / artifact.path)
            return ""

        def fetch_one(artifact: Artifact) -> None:
            part = (root / artifact.path).with_suffix(".jar.part")
            with disk_errors(part, "The jar could not be written"):
                part.parent.mkdir(parents=True, exist_ok=True)
                for number in range(_TRIES):
                    stop.wait(number * _MORE)
                    if stop.is_set() or not (why := attempt(artifact, part)):
                        return
            raise ServerError(
                f"Fetching {artifact.path.name} failed ({urlsplit(address).hostname}: {why})",
                where=str(part),
                hint="Run the command again: it resumes the download. Behind a firewall, set "
                f"{_MIRROR} to a Maven repository you can reach, or HTTPS_PROXY to a proxy.",
            )

        try:
            # Largest first, so that no large jar is left for the end.
            list(pool.map(fetch_one, sorted(artifacts, key=lambda each: -each.size)))
        finally:  # also on Ctrl-C: let the threads end at their next piece
            stop.set()
    echo(f"Fetched and verified in {time.monotonic() - began:.0f} s")
