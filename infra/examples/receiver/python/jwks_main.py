"""Answers for the tests whether deliveries verify: infra/kit/published."""
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from jwks import Verifier

verifier = Verifier(os.environ["JWKS_URL"], float(os.environ["PAUSE"]))


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            status = 200 if verifier.verify(self.headers, body) else 400
        except RuntimeError:
            status = 503
        self.send_response(status)
        self.end_headers()


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
