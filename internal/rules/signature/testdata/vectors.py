"""Writes vectors.json with Python's hmac module and the package cryptography: no code of Herald's takes part."""

import base64
import binascii
import hashlib
import hmac
import json
import pathlib

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

CASES = [
    ("an ordinary delivery", SECRET, "msg_2b7e151628aed2a6abf7158809cf4f3c", 1767225600,
     b'{"type":"user.created","data":{"userId":"user_01"}}'),
    ("an empty body", SECRET, "msg_1", 1767225600, b""),
    ("timestamp zero", SECRET, "msg_1", 0, b"{}"),
    ("a timestamp before 1970", SECRET, "msg_1", -1, b"{}"),
    ("a timestamp beyond 32 bits", SECRET, "msg_1", 4294967296, b"{}"),
    ("dots in the id", SECRET, "msg_1.2.3", 1767225600, b"{}"),
    ("a body that looks like the head", SECRET, "msg_1", 1767225600, b"msg_1.1767225600."),
    ("UTF-8 in the body", SECRET, "msg_1", 1767225600,
     '{"type":"user.updated","data":{"name":"Zoë 漢字 🎈"}}'.encode()),
    ("every byte in the body", SECRET, "msg_1", 1767225600, bytes(range(256))),
    ("white space and a final newline", SECRET, "msg_1", 1767225600, b'{ "type" : "user.deleted" }\r\n'),
    ("a secret longer than SHA-256's block", "whsec_" + "k" * 200, "msg_1", 1767225600, b"{}"),
    ("a secret exactly one block long", "whsec_" + "k" * 60, "msg_1", 1767225600, b"{}"),
    ("a secret without padding", SECRET.rstrip("="), "msg_1", 1767225600, b"{}"),
    ("a secret without its prefix", SECRET.removeprefix("whsec_"), "msg_1", 1767225600, b"{}"),
    ("a secret with bits behind the last byte", SECRET.replace("h8=", "h/="), "msg_1", 1767225600, b"{}"),
    ("another sender's secret, which is its own key", "the literal text of a key", "msg_1", 1767225600, b"{}"),
    ("a secret of its prefix only", "whsec_", "msg_1", 1767225600, b"{}"),
    ("a body of several blocks", SECRET, "msg_1", 1767225600, b"x" * 1000),
]


def vector(name, secret, message_id, timestamp, body):
    content = message_id.encode() + b"." + str(timestamp).encode() + b"." + body
    encoded = secret.removeprefix("whsec_").rstrip("=")
    padded = encoded + "=" * (-len(encoded) % 4)
    try:
        decoded = base64.b64decode(padded, validate=True)
    except binascii.Error:
        decoded = secret.encode()
    seed = hashlib.sha256(name.encode()).digest()
    key = Ed25519PrivateKey.from_private_bytes(seed)
    public = key.public_key().public_bytes_raw()
    x = base64.urlsafe_b64encode(public).decode().rstrip("=")
    thumbprint = hashlib.sha256(b'{"crv":"Ed25519","kty":"OKP","x":"%s"}' % x.encode()).digest()
    return {
        "name": name,
        "secret": secret,
        "id": message_id,
        "timestamp": timestamp,
        "body_base64": base64.b64encode(body).decode(),
        "signature": signed(secret.encode(), content),
        "decoded_signature": signed(decoded, content),
        "seed_base64": base64.b64encode(seed).decode(),
        "public_key": "whpk_" + base64.b64encode(public).decode(),
        "key_id": base64.urlsafe_b64encode(thumbprint).decode().rstrip("="),
        "asymmetric_signature": "v1a," + base64.b64encode(key.sign(content)).decode(),
    }


def signed(key, content):
    return "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()


if __name__ == "__main__":
    vectors = [vector(*case) for case in CASES]
    path = pathlib.Path(__file__).with_name("vectors.json")
    path.write_text(json.dumps(vectors, indent=2) + "\n")
