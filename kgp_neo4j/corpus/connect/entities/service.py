"""Links entities by the web services WAT and TAGME, for users who have a token for them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kgp_neo4j.types.errors import ConfigurationError, LinkerError

if TYPE_CHECKING:
    import requests

__all__ = ["TOKEN", "LinkingService", "WikipediaMention"]

#: The environment variable of the token, as D4Science names it.
TOKEN = "GCUBE_TOKEN"
_ADDRESSES = {
    "wat": "https://wat.d4science.org/wat/tag/tag",
    "tagme": "https://tagme.d4science.org/tagme/tag",
}
_LONGEST_WAIT = 120.0
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class WikipediaMention:
    """A mention of a Wikipedia article; `start` and `end` count characters of the text.

    `prior` is how often the surface means this article (WAT) or is a link at all (TAGME), `score`
    the service's rho.
    """

    start: int
    end: int
    title: str
    prior: float
    score: float


class LinkingService:
    """A client of WAT (Piccinno and Ferragina 2014) or TAGME, one request a text.

    The token comes from GCUBE_TOKEN and goes to `url` alone, in the body of the request. Time-outs,
    refused connections, broken replies and errors of the server are tried again, `tries` times in
    all, after as long as the server asks for or else 1, 2, 4... seconds.
    """

    def __init__(
        self,
        service: str,
        *,
        url: str | None = None,
        language: str = "en",
        timeout: float = 30.0,
        tries: int = 5,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.service = service
        self.url = url or _ADDRESSES[service]
        self._language = language
        self._timeout = timeout
        self._tries = tries
        self._pause = pause
        self._token = os.environ.get(TOKEN, "").strip()
        parts = urlsplit(self.url)
        if not self._token:
            raise ConfigurationError(
                f"the linker {service} needs a token",
                hint=f"Set {TOKEN}; registering at https://sobigdata.d4science.org gives one.",
            )
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigurationError(
                "--linker-url is no web address", hint="Begin it with https://."
            )
        if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            raise ConfigurationError(
                f"the token would go to {parts.hostname} unencrypted", hint="Use https://."
            )
        import requests

        self._session = requests.Session()

    def link(self, text: str) -> list[WikipediaMention]:
        """Return the mentions of a text in their order.

        Raises LinkerError where the token is refused, the quota used up, or the service out of
        reach after all tries.
        """
        from requests import RequestException

        reason = ""
        for tried in range(self._tries):
            wait = float(2**tried)
            try:
                reply = self._session.post(
                    self.url,
                    data={"gcube-token": self._token, "text": text, "lang": self._language},
                    timeout=self._timeout,
                    allow_redirects=False,
                )
            except RequestException as error:
                # Not the error's own text, which may contain the request.
                reason = f"it does not answer ({type(error).__name__})"
            else:
                if reply.status_code == 200:
                    found = _annotations(reply)
                    if found is not None:
                        return _mentions(text, found)
                    reason = "its reply is not what the service sends"
                else:
                    reason = self._refusal(reply)
                    wait = _retry_after(reply, wait)
            if tried + 1 < self._tries:
                self._pause(wait)
        raise LinkerError(
            reason,
            where=self.url,
            hint="The links so far are kept: run the same command again later to go on.",
        )

    def _refusal(self, reply: requests.Response) -> str:
        """Return the reason of a refusal that may pass; raise LinkerError for any other."""
        status = reply.status_code
        if status in (401, 403):
            raise LinkerError(
                f"it refuses the token ({status})", where=self.url, hint=f"Check {TOKEN}."
            )
        if status == 429:
            return "the quota of requests is used up (429)"
        if status >= 500 or status == 408:
            return f"it failed ({status})"
        raise LinkerError(
            f"it refuses the request ({status})", where=self.url, hint="Check --linker-url."
        )


def _retry_after(reply: requests.Response, otherwise: float) -> float:
    """Return the seconds that a reply asks to wait, at most two minutes."""
    text = reply.headers.get("Retry-After", "").strip()
    if text.isdigit():
        return min(float(text[:6]), _LONGEST_WAIT)
    try:
        return min(max(parsedate_to_datetime(text).timestamp() - time.time(), 0.0), _LONGEST_WAIT)
    except (ValueError, TypeError):
        return otherwise


def _annotations(reply: requests.Response) -> list[Any] | None:
    try:
        body = reply.json()
    except (ValueError, RecursionError):
        return None
    found = body.get("annotations") if isinstance(body, dict) else None
    return found if isinstance(found, list) else None


def _mentions(text: str, annotations: list[Any]) -> list[WikipediaMention]:
    """Return the complete annotations as mentions, sorted by place."""
    mentions = []
    for each in annotations:
        try:
            start, end = int(each["start"]), int(each["end"])
            title = str(each["title"]).replace("_", " ").strip()
            spot = str(each["spot"])
            if "explanation" in each:
                prior = float(
                    each["explanation"]["prior_explanation"]["entity_mention_probability"]
                )
            else:
                prior = float(each["link_probability"])
            score = float(each["rho"])
        except (KeyError, TypeError, ValueError, OverflowError):
            continue
        start, end = _place(text, start, end, spot)
        if title and 0 <= start < end <= len(text):
            mentions.append(WikipediaMention(start, end, title, prior, score))
    return sorted(mentions, key=lambda m: (m.start, m.end, m.title))


def _place(text: str, start: int, end: int, spot: str) -> tuple[int, int]:
    """Return offsets in characters; the services count UTF-16 units, as Java does."""
    if text[max(start, 0) : end].lower() == spot.lower():
        return start, end
    units = text.encode("utf-16-le")
    if 0 <= start < end and 2 * end <= len(units):
        before = len(units[: 2 * start].decode("utf-16-le", "ignore"))
        inside = len(units[2 * start : 2 * end].decode("utf-16-le", "ignore"))
        return before, before + inside
    return start, end
