"""What the tests of security share."""

from collections.abc import Iterator

import pytest
from raw_server import RawServer, whole


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, list[bytes]]]:
    """An address on loopback, and what was asked for there."""
    served = RawServer(whole({"secret": 1}))
    yield f"http://{served.host}/secret", served.requests
    served.close()
