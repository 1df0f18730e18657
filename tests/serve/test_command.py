"""`kgp-neo4j serve` as a process of its own, and the spans that it sends to a collector."""

from __future__ import annotations

import gzip
import os
import re
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
from commands import environment
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from kgp_neo4j.demo import QUESTION
from kgp_neo4j.graphdb.database import Database


class Collector(ThreadingHTTPServer):
    """Takes spans as any collector of OpenTelemetry does: protobuf over HTTP (OTLP)."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.sent: list[tuple[str, ExportTraceServiceRequest]] = []


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.sent.append((self.path, ExportTraceServiceRequest.FromString(body)))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """The test says enough."""


def test_spans_reach_a_collector(database: Database, demo_graph: str) -> None:
    collector = Collector()
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    variables = {
        **os.environ,
        **environment(database.connection),
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_port}",
        "OTEL_SERVICE_NAME": "questions of the tests",
        "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
    }
    command = [sys.executable, "-m", "kgp_neo4j.cli", "serve", "--port", "0"]
    process = subprocess.Popen(command, env=variables, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        told = ""
        while not (found := re.search(r"http://127\.0\.0\.1:\d+", told)):
            line = process.stderr.readline()
            assert line, told  # it ended
            told += line
        # Read on, so that the process never waits for someone to read what it says.
        threading.Thread(target=process.stderr.read, daemon=True).start()
        asked = {"question": QUESTION, "corpus": demo_graph}
        assert httpx.post(f"{found[0]}/ask", json=asked, timeout=120).status_code == 200
        process.send_signal(signal.SIGINT)
        process.wait(60)
    finally:
        process.kill()
        collector.shutdown()

    assert {path for path, _ in collector.sent} == {"/v1/traces"}
    groups = [group for _, request in collector.sent for group in request.resource_spans]
    named = {
        each.value.string_value
        for group in groups
        for each in group.resource.attributes
        if each.key == "service.name"
    }
    assert named == {"questions of the tests"}
    scopes = [scope for group in groups for scope in group.scope_spans]
    spans = {span.span_id: span for scope in scopes for span in scope.spans}
    ways = set()
    for span in spans.values():
        way = [span.name]
        while span.parent_span_id:
            span = spans[span.parent_span_id]
            way.insert(0, span.name)
        ways.add(tuple(way))
    assert ("POST /ask", "fastapi.endpoint", "retrieve", "hop", "statement") in ways
    assert all(way[0] == "POST /ask" for way in ways)
    # What was asked stays in the service.
    assert "Hesk" not in repr([request for _, request in collector.sent])
