"""Writes vectors.json with Python's hmac module: no code of Herald's takes part."""

import base64
import hashlib
import hmac
import json
import pathlib

SECRET = "whs_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"

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
    ("a secret longer than SHA-256's block", "whs_" + "k" * 200, "msg_1", 1767225600, b"{}"),
    ("a secret exactly one block long", "whs_" + "k" * 60, "msg_1", 1767225600, b"{}"),
    ("a secret of its prefix only", "whs_", "msg_1", 1767225600, b"{}"),
    ("a body of several blocks", SECRET, "msg_1", 1767225600, b"x" * 1000),
]


def vector(name, secret, message_id, timestamp, body):
    content = message_id.encode() + b"." + str(timestamp).encode() + b"." + body
    digest = hmac.new(secret.encode(), content, hashlib.sha256).digest()
    return {
        "name": name,
        "secret": secret,
        "id": message_id,
        "timestamp": timestamp,
        "body_base64": base64.b64encode(body).decode(),
        "signature": "v1," + base64.b64encode(digest).decode(),
    }


if __name__ == "__main__":
    vectors = [vector(*case) for case in CASES]
    path = pathlib.Path(__file__).with_name("vectors.json")
    path.write_text(json.dumps(vectors, indent=2) + "\n")
