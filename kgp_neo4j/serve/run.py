"""Runs the service until it is stopped."""

import ipaddress
import socket
from pathlib import Path

import uvicorn

from kgp_neo4j.serve.app import make_app
from kgp_neo4j.serve.guard import set_up_log
from kgp_neo4j.serve.service import Service
from kgp_neo4j.types.errors import ConfigurationError


def check_address(host: str, tokens: Path | None) -> None:
    """Raise ConfigurationError for an address that others reach, where there are no tokens."""
    if tokens is not None or host == "localhost":
        return
    try:
        own = ipaddress.ip_address(host).is_loopback
    except ValueError:
        own = False
    if not own:
        raise ConfigurationError(
            f"without tokens the service is for this machine alone, not for {host}",
            hint="Make a token (`kgp-neo4j serve token NAME --tokens FILE`) and give --tokens "
            "FILE, or leave --host out.",
        )


def listen(host: str, port: int) -> socket.socket:
    """Return a socket at an address, a free port for 0; raises ConfigurationError if it's taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise ConfigurationError(
            f"the service cannot listen at {host}, port {port} ({error.strerror or error})",
            hint="Choose another --port, or 0 for any that is free.",
        ) from error


def run(service: Service, at: socket.socket, *, log_json: bool = False) -> None:
    """Answer requests until the process is told to end; what runs then is finished."""
    set_up_log(log_json)
    config = uvicorn.Config(
        make_app(service),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=30,
        h11_max_incomplete_event_size=32 * 1024,
    )
    uvicorn.Server(config).run(sockets=[at])
