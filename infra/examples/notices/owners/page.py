"""The Lambda function behind the links of mails: a page asks, and its button confirms or stops.

Mail scanners open links, so that a link alone must do nothing. The page has no text that a request or a tenant brought.
"""

import base64
import hashlib
import hmac
import html
import json
import os
import re
from typing import Any
from urllib.parse import parse_qs

import boto3
from addresses import Names
from book import LIFE, Book

TITLE = "Notices about a webhook endpoint"
ASK = "Someone asked us to tell you, by mail, when a webhook endpoint fails and when it works again."
CONFIRM, CONFIRMED = "Send me these notices", "Thank you. We will send notices to your address."
STOP, STOPPED = "Stop these notices", "We no longer send these notices to your address."
GONE = "This link has expired or was already used."

FORM = {"who": "[0-9a-f]{32}", "what": "[0-9a-f]{32}", "token": "[A-Za-z0-9_-]{43}", "stop": "[0-9a-f]{32}"}
HEADERS = {
    "content-type": "text/html; charset=utf-8", "cache-control": "no-store", "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "x-content-type-options": "nosniff", "x-robots-tag": "noindex",
}

book = Book(boto3.resource("dynamodb").Table(os.environ["TABLE"]))
key = boto3.client("secretsmanager").get_secret_value(SecretId=os.environ["KEY"])["SecretString"]
names, queue = Names(key.encode()), boto3.client("sqs")


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    given = read(event)
    if "who" not in given or "what" not in given or ("token" in given) == ("stop" in given):
        return page(400, GONE)
    who, what = "mailbox#" + given["who"], "owner#" + given["what"]
    asked = event["requestContext"]["http"]["method"] != "POST"
    if "stop" in given:
        if not hmac.compare_digest(given["stop"], names.stop(who, what)):
            return page(400, GONE)
        if asked:
            return page(200, "", given, STOP)
        end = book.now() + LIFE
        book.change(who, what, "SET consent = :no, expires_at = :end REMOVE proof, notice", no="stopped", end=end)
        return page(200, STOPPED)
    if asked:
        return page(200, ASK, given, CONFIRM)
    return page(200, CONFIRMED) if confirm(who, what, given["token"]) else page(400, GONE)


def confirm(who: str, what: str, token: str) -> bool:
    """Confirms once, and has the notice sent that has waited for it."""
    now = book.now()
    was = book.change(
        who, what, "SET consent = :yes, expires_at = :end REMOVE proof, notice, counted",
        "consent = :asked AND proof = :proof AND expires_at > :now",
        yes="confirmed", asked="asked", proof=hashlib.sha256(token.encode()).hexdigest(), now=now, end=now + LIFE,
    )
    if was is None:
        return False
    for row in was.get("counted", []):  # an answer makes room for other questions
        book.uncount(*row)
    queue.send_message(QueueUrl=os.environ["QUEUE_URL"], MessageBody=json.dumps({"detail": json.loads(was["notice"])}))
    return True


def read(event: dict[str, Any]) -> dict[str, str]:
    """Reads the fields of a link and of the form behind it. What has another form is left out."""
    body = event.get("body") or ""
    if len(body) > 1000:
        return {}
    if event.get("isBase64Encoded"):
        body = base64.b64decode(body).decode("ascii", "replace")
    fields = parse_qs(event.get("rawQueryString", "")[:1000]) | parse_qs(body)
    return {n: fields[n][0] for n, form in FORM.items() if n in fields and re.fullmatch(form, fields[n][0], re.ASCII)}


def page(status: int, text: str, fields: dict[str, str] | None = None, button: str = "") -> dict[str, Any]:
    form = ""
    if fields:
        hidden = "".join(
            f'<input type="hidden" name="{name}" value="{html.escape(value)}">' for name, value in fields.items()
        )
        form = f'<form method="post">{hidden}<button>{html.escape(button)}</button></form>'
    body = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(TITLE)}</title><h1>{html.escape(TITLE)}</h1><p>{html.escape(text)}</p>{form}</html>"
    )
    return {"statusCode": status, "headers": HEADERS, "body": body}
