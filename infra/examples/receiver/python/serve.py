"""Serves the receiver over TLS and prints each delivery, for the walk through the API: infra/docs/api.md."""
import json
import ssl
import sys

from receiver import receiver

endpoint, port, certificate, key = sys.argv[1:]
with open(endpoint) as answer:
    secret = json.load(answer)["signing_secret"]
server = receiver([secret], lambda event, body: print("verified", event, body.decode(), flush=True), int(port))
tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(certificate, key)
server.socket = tls.wrap_socket(server.socket, server_side=True)
server.serve_forever()
