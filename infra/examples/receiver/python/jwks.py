import base64, binascii, json, logging, re, threading, time, urllib.request

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

# The keys are asked for anew after an hour, and at once, but only once a minute, for a signature that none verifies:
# it may be of a new key, or forged.
LIFETIME = 3600  # seconds


def decoded(text):
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""


class Verifier:
    """Verifies deliveries by the public keys at url: …/v1/webhooks/{id}/jwks.json of the one endpoint that it receives
    for. Whoever verifies needs no secret."""

    def __init__(self, url, pause=60):
        self.url, self.pause, self.lock = url, pause, threading.Lock()
        self.keys, self.read, self.asked = None, float("-inf"), float("-inf")

    def verify(self, headers, body):  # the raw bytes, never re-serialised
        """Tells whether a delivery is genuine and fresh. Raises where there are no keys yet: answer 503 then."""
        wh_id, stamp, signed = (headers.get("webhook-" + h, "") for h in ("id", "timestamp", "signature"))
        if re.fullmatch("[0-9]{1,11}", stamp) is None or abs(time.time() - int(stamp)) > 300:
            return False
        content = f"{wh_id}.{stamp}.".encode() + body
        texts = [text.removeprefix("v1a,") for text in signed.split() if text.startswith("v1a,")]
        signatures = [decoded(text) for text in texts[:2]]
        with self.lock:
            if time.monotonic() - self.read > LIFETIME:
                self.refresh()
            if self.matches(content, signatures):
                return True
            if signatures:
                self.refresh()
            if self.keys is None:
                raise RuntimeError("no keys yet")
            return self.matches(content, signatures)

    def matches(self, content, signatures):
        for key in self.keys or []:
            for signature in signatures:
                try:
                    key.verify(signature, content)
                    return True
                except InvalidSignature:
                    pass
        return False

    def refresh(self):  # at most once a minute; where it fails, the keys before stay
        if time.monotonic() - self.asked < self.pause:
            return
        self.asked = time.monotonic()
        try:
            with urllib.request.urlopen(self.url, timeout=5) as answer:
                found = json.loads(answer.read(1 << 16))["keys"]
            points = [k["x"] + "=" for k in found if (k["kty"], k["crv"]) == ("OKP", "Ed25519")]
            self.keys = [Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(x)) for x in points]
            self.read = self.asked
        except Exception:
            logging.exception("asking for keys")
