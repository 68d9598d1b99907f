"""Serve the PDF and the site to a browser on this machine; the browser reloads them after every build."""

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

HOST = "127.0.0.1"
NAMES = ("127.0.0.1", "localhost")
VIEWER = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>The thesis, as it is built</title>
<style>html,body{margin:0;height:100%}iframe{border:0;width:100%;height:100%}</style></head>
<body><iframe id="shown" src="/thesis.pdf" title="The thesis"></iframe>
<script src="/reload.js"></script></body></html>
"""
SCRIPT = """let known = null;
async function look() {
  try {
    const now = await (await fetch('/version', {cache: 'no-store'})).text();
    const shown = document.getElementById('shown');
    if (known !== null && now !== known) {
      if (shown) shown.src = '/thesis.pdf?' + now; else location.reload();
    }
    known = now;
  } catch (error) { /* the watch has ended; it may come back */ }
  setTimeout(look, 700);
}
look();
"""


class Server(ThreadingHTTPServer):
    """A local server of an output folder; `version` increases after each build.

    Parameters
    ----------
    out : Path
        The output folder; only its `thesis.pdf` and `site/` are served.
    port : int
        The port; 0 for any free port.
    """

    daemon_threads = True

    def __init__(self, out: Path, port: int = 0) -> None:
        self.version = 0
        super().__init__((HOST, port), partial(Handler, directory=str(out)))

    @property
    def address(self) -> str:
        """Return the address for a browser."""
        return f"http://{HOST}:{self.server_address[1]}/"

    def built(self) -> None:
        """Make open pages reload, since a build has ended."""
        self.version += 1

    def begin(self) -> None:
        """Serve in the background until the process ends or `shutdown` is called."""
        Thread(target=self.serve_forever, daemon=True).start()


class Handler(SimpleHTTPRequestHandler):
    """A handler that serves the viewer, its script, the version, the PDF and the site."""

    server: Server

    def do_GET(self) -> None:
        """Answer a request."""
        path = self.path.partition("?")[0]
        try:
            self._answer_request(path)
        except ConnectionError:
            self.close_connection = True  # the browser closed it
        except (ValueError, OSError):  # not a valid file name
            self.send_error(404)

    def _answer_request(self, path: str) -> None:
        if self.headers.get("Host", "").rpartition(":")[0] not in NAMES:
            self.send_error(403, "this server only answers requests from its own machine")
        elif path in ("/", "/index.html"):
            self._send(VIEWER, "text/html; charset=utf-8")
        elif path == "/reload.js":
            self._send(SCRIPT, "text/javascript; charset=utf-8")
        elif path == "/version":
            self._send(str(self.server.version), "text/plain")
        elif path == "/thesis.pdf" and self._file_at(path, "thesis.pdf"):
            super().do_GET()
        elif path.startswith("/site/") and (file := self._file_at(path, "site")):
            self._send_page(file)
        else:
            self.send_error(404)

    def do_HEAD(self) -> None:
        """Refuse a request for headers alone."""
        self.send_error(405)

    def end_headers(self) -> None:
        """Tell the browser to cache nothing; else it would show old builds."""
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing, since the terminal shows builds."""

    def _file_at(self, path: str, served_path: str) -> Path | None:
        """Return the file that an address names; None if it is absent or outside `served_path`."""
        root = Path(self.directory).resolve() / served_path
        file = Path(self.translate_path(path)).resolve()
        file = (file / "index.html").resolve() if file.is_dir() else file
        return file if file.is_file() and file.is_relative_to(root) else None

    def _send_page(self, file: Path) -> None:
        if file.suffix == ".html":
            text = file.read_text(encoding="utf-8")
            self._send(text.replace("</body>", '<script src="/reload.js"></script></body>'), "text/html; charset=utf-8")
        else:
            super().do_GET()

    def _send(self, text: str, media_type: str) -> None:
        content = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
