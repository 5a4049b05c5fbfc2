"""The Lambda function that hears of bounces and complaints, and that erases an address for an operator.

By hand: {"erase": "ann@example.com"} deletes all that is kept of a mailbox; {"leave_alone": "ann@example.com"} has it
get no more mails.
"""

import json
import os
from typing import Any

import boto3
from addresses import Names, checked
from book import Book

book = Book(boto3.resource("dynamodb").Table(os.environ["TABLE"]))
key = boto3.client("secretsmanager").get_secret_value(SecretId=os.environ["KEY"])["SecretString"]
names = Names(key.encode())


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    if "erase" in event:
        return {"rows": book.erase(names.mailbox(known(event["erase"])))}
    if "leave_alone" in event:
        book.leave_alone(names.mailbox(known(event["leave_alone"])), "asked")
        return {}
    for record in event["Records"]:
        told = json.loads(record["Sns"]["Message"])
        if why := final(told):
            for address in told["mail"]["destination"]:  # as we wrote it; the bounce may name where it was forwarded to
                if address := checked(address):
                    book.leave_alone(names.mailbox(address), why)
            print(json.dumps({"left_alone": why}))
    return {}


def final(told: dict[str, Any]) -> str:
    """Says why an address is to be left alone. A full mailbox and an absence note are no reasons."""
    if told.get("eventType") == "Complaint":
        return "complaint"
    return "bounce" if told.get("eventType") == "Bounce" and told["bounce"]["bounceType"] != "Transient" else ""


def known(text: str) -> str:
    address = checked(text)
    if not address:
        raise ValueError("this is no address that would get mails")
    return address
