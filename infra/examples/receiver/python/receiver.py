import base64, hmac, json, re, socket, threading, time, traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def signed(secret, content, signature):
    digest = hmac.digest(secret.encode(), content, "sha256")  # the secret's literal text, whsec_ included
    return secret != "" and hmac.compare_digest(b"v1," + base64.b64encode(digest), signature.encode())


def genuine(secrets, headers, body):
    wh_id, stamp, signature = (headers.get(h, "") for h in ("wh-id", "wh-timestamp", "wh-signature"))
    content = f"{wh_id}.{stamp}.".encode() + body
    if not any(signed(secret, content, signature) for secret in secrets):
        return False
    return re.fullmatch("[0-9]{1,11}", stamp) is not None and abs(time.time() - int(stamp)) <= 300


def receiver(secrets, process, port):
    """Processes each genuine delivery once and answers 2xx only when that is done. A rotation needs two secrets."""
    done = {}  # by wh-id, a request at work; in production: a store all instances share, kept for days

    class Receiver(BaseHTTPRequestHandler):
        def setup(self):  # a slow sender is cut off
            super().setup()
            self.deadline = threading.Timer(10, self.connection.shutdown, [socket.SHUT_RD])
            self.deadline.start()

        def finish(self):
            self.deadline.cancel()
            super().finish()

        def do_POST(self):
            status = self.take()
            self.send_response(status)
            if status == 409:
                self.send_header("Retry-After", "30")
            self.end_headers()

        def take(self):
            length = self.headers.get("content-length", "")  # whatever ends TLS in front of this sends it
            if not re.fullmatch("[0-9]{1,7}", length) or int(length) > 1 << 20:
                return 413 if length else 411
            body = self.rfile.read(int(length))  # raw, never re-serialised
            self.deadline.cancel()
            if len(body) < int(length) or not genuine(secrets, self.headers, body):
                return 400
            event = json.loads(body)["type"]  # signed, unlike the header that repeats it
            if event != self.headers["wh-webhook-event"]:
                return 400
            wh_id = self.headers["wh-id"]
            first = done.setdefault(wh_id, self)  # one atomic step: two threads cannot both be first
            if first is not self:
                return 200 if first is True else 409  # 409: at work, it may still fail
            try:
                process(event, body)
                done[wh_id] = True
                return 200
            except Exception:
                traceback.print_exc()
                return 500
            finally:
                if done[wh_id] is self:  # it failed: the retry is processed
                    del done[wh_id]

    ThreadingHTTPServer.request_queue_size = 128  # connections that wait to be accepted
    return ThreadingHTTPServer(("127.0.0.1", port), Receiver)  # behind whatever ends TLS
