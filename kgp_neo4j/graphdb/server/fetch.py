"""Fetches the jars of the lock file: several at a time, resumed, verified.

The addresses come from jgo and the user's jgo settings, or from `KGP_NEO4J_MAVEN_MIRROR`, which
names another Maven repository to use instead.
"""

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
from kgp_neo4j.environment.progress import Progress, bar
from kgp_neo4j.graphdb.server.artifacts import Artifact, sha256_of
from kgp_neo4j.types.errors import ConfigurationError, ServerError

_THREADS = 12
_TIMEOUT = (15, 60)  # seconds to connect, seconds between two pieces
_MORE = 1.0  # seconds more that each further attempt waits for
_PIECE = 64 * 1024  # bytes; a cut connection loses one at most
_MIRROR = "KGP_NEO4J_MAVEN_MIRROR"


def repositories() -> dict[str, str]:
    """Return the Maven repositories to ask, in order: name -> address."""
    mirror = os.environ.get(_MIRROR, "").strip().rstrip("/")
    if mirror:
        if urlsplit(mirror).scheme not in ("http", "https") or not urlsplit(mirror).hostname:
            raise ConfigurationError(
                f"{_MIRROR} is not an http or https address",
                hint="Set it to the root of a Maven repository, or unset it.",
            )
        return {"mirror": mirror}
    from jgo.config import GlobalSettings
    from jgo.maven import MavenContext

    addresses: dict[str, str] = MavenContext().remote_repos
    addresses.update(GlobalSettings.load().repositories)
    return {name: address.rstrip("/") for name, address in addresses.items()}


def fetch(artifacts: list[Artifact], root: Path, what: str, echo: Callable[[str], object]) -> None:
    """Fetch `artifacts` into the folder `root`, laid out as in Maven, and verify each.

    `what` names them on the progress bar and in errors. Raises ServerError when one cannot be
    fetched; complete jars and `.part` files stay for the next run.
    """
    total = sum(artifact.size for artifact in artifacts)
    require_free(root, total, f"The files of {what}")
    echo(f"Fetching {len(artifacts)} jars, {total / 1e6:.0f} MB, into {root}")
    began = time.monotonic()
    with (
        bar(f"Fetching {what}", total, bytes_=True) as progress,
        ThreadPoolExecutor(_THREADS, thread_name_prefix="kgp-fetch") as pool,
    ):
        fetcher = _Fetcher(root, list(repositories().values()), progress)
        # Largest first, so that no large jar is left for the end.
        ordered = sorted(artifacts, key=lambda artifact: -artifact.size)
        try:
            for _ in pool.map(fetcher.fetch, ordered):
                pass
        finally:  # also on Ctrl-C: let the threads end at their next piece
            fetcher.stop.set()
    echo(f"Fetched and verified in {time.monotonic() - began:.0f} s")


class _Fetcher:
    def __init__(self, root: Path, repositories: list[str], progress: Progress) -> None:
        self._root, self._repositories, self._progress = root, repositories, progress
        self._session = requests.Session()
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, HTTPAdapter(pool_maxsize=_THREADS))
        #: Set where another jar has failed for good, and at the end.
        self.stop = threading.Event()

    def fetch(self, artifact: Artifact) -> None:
        """Fetch one jar into the cache, from any of the repositories."""
        target = self._root / artifact.path
        part = target.with_name(f"{target.name}.part")
        why = "no Maven repository is set"
        with disk_errors(part, "The jar could not be written"):
            target.parent.mkdir(parents=True, exist_ok=True)
            for attempt in range(4):
                self.stop.wait(attempt * _MORE)
                for repository in self._repositories:
                    if self.stop.is_set():
                        return
                    problem = self._attempt(artifact, f"{repository}/{artifact.path}", part)
                    if not problem:
                        part.replace(target)
                        return
                    why = f"{urlsplit(repository).hostname}: {problem}"
        raise ServerError(
            f"Fetching {artifact.path.name} failed ({why})",
            where=str(part),
            hint="Run the command again: it resumes the download. Behind a firewall, set "
            f"{_MIRROR} to a Maven repository you can reach, or HTTPS_PROXY to a proxy.",
        )

    def _attempt(self, artifact: Artifact, address: str, part: Path) -> str:
        """Fetch the missing part of one jar and verify the whole; return why that failed, if so."""
        have = part.stat().st_size if part.is_file() else 0
        if have >= artifact.size:
            part.unlink()
            have = 0
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
        try:
            with self._session.get(
                address, headers=headers, stream=True, timeout=_TIMEOUT
            ) as response:
                if response.status_code not in (200, 206):
                    return f"HTTP {response.status_code}"
                # A server that cannot resume sends all of it.
                with part.open("ab" if response.status_code == 206 and have else "wb") as file:
                    for piece in response.iter_content(_PIECE):
                        if self.stop.is_set() or file.tell() > artifact.size:
                            break  # too long: not our jar, as its SHA-256 will say
                        file.write(piece)
                        self._progress.update(len(piece))
        except requests.RequestException as error:
            # Only the type: the text of the error may contain an address with a password.
            return f"the connection failed, {type(error).__name__}"
        if part.stat().st_size < artifact.size:
            return "the connection was cut off"
        if sha256_of(part) != artifact.sha256:
            part.unlink()
            return "the bytes received do not match the SHA-256 of the lock file"
        return ""
