"""Verifies deliveries with the libraries for Python, each by its usual constructor, at the time of their arrival."""

import base64
import datetime
import json
import sys

import standardwebhooks.webhooks
import svix.webhooks


class Arrival(datetime.datetime):
    """The clock of the libraries: it shows the time at which a delivery arrived."""

    seconds = 0

    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(cls.seconds, tz)


standardwebhooks.webhooks.datetime = Arrival  # those of svix call it

LIBRARIES = {"standardwebhooks": standardwebhooks.Webhook, "svix": svix.webhooks.Webhook}

for case in json.load(sys.stdin):
    Arrival.seconds = case["at"]
    for library, webhook in LIBRARIES.items():
        verdict = "verified"
        try:
            webhook(case["secret"]).verify(base64.b64decode(case["body"]), case["headers"])
        except Exception as fault:  # each library has exceptions of its own
            verdict = f"refused: {fault}"
        print(f"python {library}\t{case['name']}\t{verdict}")
