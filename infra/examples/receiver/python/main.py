"""Starts the receiver for the tests, which say what becomes of each delivery: infra/kit/published."""
import os
import urllib.request

from receiver import receiver


def process(event, body):
    urllib.request.urlopen(urllib.request.Request(os.environ["WORK"], body, {"event": event})).close()


server = receiver(os.environ["SIGNING_SECRETS"].split(","), process, 0)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
