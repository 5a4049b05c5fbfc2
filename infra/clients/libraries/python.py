"""Verifies deliveries with the libraries for Python, each by its usual constructor."""

import base64
import json
import sys

import standardwebhooks
import svix.webhooks

LIBRARIES = {"standardwebhooks": standardwebhooks.Webhook, "svix": svix.webhooks.Webhook}

for case in json.load(sys.stdin):
    for library, webhook in LIBRARIES.items():
        verdict = "verified"
        try:
            webhook(case["secret"]).verify(base64.b64decode(case["body"]), case["headers"])
        except Exception as fault:  # each library has exceptions of its own
            verdict = f"refused: {fault}"
        print(f"python {library}\t{case['name']}\t{verdict}")
