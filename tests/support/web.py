"""A small web server on this machine whose faults can be chosen."""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Site:
    """What the server has, how it misbehaves, and what it was asked."""

    def __init__(self):
        self.content = {}
        self.asked = []
        self.cuts = []  # for each request in turn, after how many bytes to hang up
        self.refusals = []  # for each request in turn, a status and headers instead of content
        self.ranges = True
        self.headers = {"ETag": '"one"'}
        self.says_length = True
        self.chunked = False
        self.stalls = []  # for each request in turn, whether to fall silent instead of hanging up
        self.over = threading.Event()
        self.shift = 0  # how far a range is off from what was asked
        self.url = ""

    def put(self, name, content):
        self.content[f"/{name}"] = content
        return f"{self.url}/{name}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        site = self.server.site
        site.asked.append((self.path, {key: self.headers[key] for key in ("Range", "If-Range")}))
        if site.refusals:
            status, headers = site.refusals.pop(0)
            self.answer(status, headers)
            return
        content = site.content.get(self.path)
        if content is None:
            self.answer(404, {})
            return
        start, headers, status = 0, dict(site.headers), 200
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        same = self.headers.get("If-Range", site.headers.get("ETag")) == site.headers.get("ETag")
        if asked and site.ranges and same:
            start = int(asked[1])
            if start >= len(content):
                self.answer(416, {"Content-Range": f"bytes */{len(content)}"})
                return
            start, status = start + site.shift, 206
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        body = content[start:]
        sent = body[: site.cuts.pop(0)] if site.cuts else body
        if site.chunked:
            headers["Transfer-Encoding"] = "chunked"
            sent = b"%x\r\n" % len(body) + sent + (b"\r\n0\r\n\r\n" if sent == body else b"")
        elif site.says_length:
            headers["Content-Length"] = str(len(body))
        self.answer(status, headers, sent)
        if site.stalls and site.stalls.pop(0):
            self.wfile.flush()
            site.over.wait(30)

    def answer(self, status, headers, body=b""):
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        if not body:
            self.send_header("Content-Length", "0")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


@contextmanager
def serve():
    """Run a site until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.site = Site()
    server.site.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.site
    finally:
        server.site.over.set()
        server.shutdown()
        server.server_close()
        thread.join()
