"""A Lambda function that mails Herald's notices to the contacts of their endpoints.

It sends a notice once, and mails to an address that has confirmed for this tenant. An address gets three mails in 24
hours at most, whatever the tenants, and one that bounced, complained or stopped them gets none. No log has a contact.
"""

import hashlib
import json
import os
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
from addresses import Names, checked
from book import Book, Busy
from botocore.config import Config
from botocore.exceptions import ClientError
from contacts import address_of
from words import Mail, Words, fields

SLOTS = ("slot2", "slot1", "slot0")
ASKING = ("slot0",)  # asking takes one mail of the three, so that strangers leave two for news
TENANT_MAILS = 20  # a day
TENANT_ASKS = 5  # unanswered, of a tenant in 90 days: who names addresses that bounce, or strangers, is done soon
MAILBOX_ASKS = 3  # unanswered, of a mailbox in 90 days, whatever the tenants
ONE_TENANTS_ASKS = 2  # of those: no tenant keeps a mailbox from hearing of another one
FINAL = {"BadRequestException", "MessageRejected", "MailFromDomainNotVerifiedException"}
BEGINNINGS = {"recovered": "circuit_opened", "resumed": "paused"}

Notice = dict[str, Any]
Undo = tuple[Callable[[str, str], None], tuple[str, str]]


class Mailer:
    def __init__(self, words: Words) -> None:
        self.words = words
        self.book = Book(boto3.resource("dynamodb").Table(os.environ["TABLE"]))
        self.endpoints = boto3.client("dynamodb")
        once = Config(retries={"total_max_attempts": 1})  # a second try may be a second mail
        self.ses = boto3.client("sesv2", config=once)
        secret = boto3.client("secretsmanager").get_secret_value(SecretId=os.environ["KEY"])["SecretString"]
        self.names = Names(secret.encode())

    def tell(self, notice: Notice) -> str:
        """Tells an owner, and returns what was done: sent, or why not."""
        mail = self.words.of.get(notice["kind"])
        if mail is None:
            return "no words"
        if not self.book.claim(notice["id"]):
            return "known"
        did = self.decide(notice, mail)
        self.book.finish(notice["id"], did)
        return did

    def decide(self, notice: Notice, mail: Mail) -> str:
        if beginning := BEGINNINGS.get(notice["kind"]):  # "it works again" is for those who know that it did not
            moment = datetime.fromisoformat(notice["since"]) - datetime(1970, 1, 1, tzinfo=UTC)
            if not self.book.close(f"{notice['endpoint_id']}/{beginning}/{moment // timedelta(milliseconds=1)}"):
                return "nothing to end"
        tenant = notice["tenant_id"]
        address = checked(address_of(self.contact(notice), tenant))
        if not address:
            return "no address"
        who, what = self.names.mailbox(address), self.names.owner(tenant, address)
        if "alone" in self.book.row(who, "limits"):
            self.book.keep(who, "limits")
            return "left alone"
        consent = self.book.consent(who, what)
        if consent == "stopped":
            self.book.keep(who, what)
            return "stopped"
        if os.environ["CONFIRM"] == "on" and consent != "confirmed":
            return self.ask(notice, address, who, what)
        stop = f"{os.environ['PAGE']}?who={who[8:]}&what={what[6:]}&stop={self.names.stop(who, what)}"
        text = mail.filled(
            fields(self.words, notice, int(os.environ["KEPT_DAYS"]), os.environ["ANSWER_SECONDS"], stop)
        )
        text["Headers"] = [
            {"Name": "List-Unsubscribe", "Value": f"<{stop}>"},
            {"Name": "List-Unsubscribe-Post", "Value": "List-Unsubscribe=One-Click"},
        ]
        did = self.send(address, text, self.spend(who, tenant, SLOTS))
        if did == "sent":
            self.book.keep(who, what)
        return did

    def contact(self, notice: Notice) -> str:
        """Returns the endpoint's contact from Herald's table, or without a right to that, from the notice."""
        if not os.environ["ENDPOINTS_TABLE"]:
            return str(notice.get("contact", ""))
        found = self.endpoints.get_item(
            TableName=os.environ["ENDPOINTS_TABLE"],
            Key={"tenant_id": {"S": notice["tenant_id"]}, "endpoint_id": {"S": "#about#" + notice["endpoint_id"]}},
            ProjectionExpression="tenant_id, endpoint_id, contact",
        )
        return str(found.get("Item", {}).get("contact", {}).get("S", ""))

    def ask(self, notice: Notice, address: str, who: str, what: str) -> str:
        """Asks an owner to confirm, in a mail without a word of the tenant's. The notice is mailed after that."""
        tenant, token = notice["tenant_id"], secrets.token_urlsafe(32)
        again = os.environ["ENDPOINTS_TABLE"] != ""
        kept = json.dumps({name: value for name, value in notice.items() if name != "contact" or not again})
        if not self.book.ask(who, what, hashlib.sha256(token.encode()).hexdigest(), kept):
            later = self.book.change(who, what, "SET notice = :notice", "consent = :asked", notice=kept, asked="asked")
            if later is None:
                raise Busy  # the owner has just answered
            return "asked"
        link = f"{os.environ['PAGE']}?who={who[8:]}&what={what[6:]}&token={token}"
        spent = self.spend(who, tenant, ASKING, asks=True)
        try:
            did = self.send(address, self.words.confirm.filled({"confirm_url": link, "days": "7"}), spent)
        except Exception:
            self.book.forget(who, what)
            raise
        if did != "sent":
            self.book.forget(who, what)
            return did
        counted = [list(row) for undo, row in spent or [] if undo == self.book.uncount and "asks#" in row[1]]
        self.book.asked(who, what, counted)
        return "asked"

    def spend(self, who: str, tenant: str, slots: tuple[str, ...], asks: bool = False) -> list[Undo] | None:
        """Takes a mail out of all limits. It takes nothing, and returns None, if one of them is reached."""
        count, of = self.book.count, self.names.tenant(tenant)
        take: list[tuple[Callable[[str, str], None], Callable[[], tuple[str, str] | None]]] = [
            (self.book.uncount, lambda: count(of, "day", 1, TENANT_MAILS)),
            (self.book.unslot, lambda: self.book.slot(who, slots)),
            (self.book.uncount, lambda: count("stack", "day", 1, int(os.environ["MAILS_PER_DAY"]))),
        ]
        if asks:
            take[:0] = [
                (self.book.uncount, lambda: count(of, "asks", 90, TENANT_ASKS)),
                (self.book.uncount, lambda: count(who, f"asks#{of[7:]}", 90, ONE_TENANTS_ASKS)),
                (self.book.uncount, lambda: count(who, "asks", 90, MAILBOX_ASKS)),
            ]
        spent: list[Undo] = []
        for undo, one in take:
            taken = one()
            if taken is None:
                give_back(spent)
                return None
            spent.append((undo, taken))
        return spent

    def send(self, address: str, content: dict[str, Any], spent: list[Undo] | None) -> str:
        """Sends one mail to one address. What SES has refused counts in no limit; what may have gone out does."""
        if spent is None:
            return "limited"
        try:
            self.ses.send_email(
                FromEmailAddress=os.environ["SENDER"],
                Destination={"ToAddresses": [address]},
                Content={"Simple": content},
                ConfigurationSetName=os.environ["CONFIGURATION_SET"],
            )
        except ClientError as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] < 500:
                give_back(spent)
            if error.response["Error"]["Code"] not in FINAL:
                raise
            return "refused by SES: " + error.response["Error"]["Code"]
        return "sent"


def give_back(spent: list[Undo]) -> None:
    for undo, row in spent:
        undo(*row)


mailer = Mailer(Words(Path(__file__).parent / "mails"))


def handler(event: dict[str, Any], _context: object) -> dict[str, list[dict[str, str]]]:
    """Mails what the queue hands on. What fails comes again, and moves aside after the fifth time."""
    failures = []
    for record in event["Records"]:
        line: dict[str, str] = {}
        try:
            notice = json.loads(record["body"])["detail"]
            line = {name: notice[name] for name in ("id", "kind", "tenant_id")}
            line["did"] = mailer.tell(notice)
        except Exception as error:  # its text may have an address
            line["did"] = "failed: " + name_of(error)
            failures.append({"itemIdentifier": record["messageId"]})
        print(json.dumps(line))
    return {"batchItemFailures": failures}


def name_of(error: Exception) -> str:
    """Returns what an error is, without its text."""
    return str(error.response["Error"]["Code"]) if isinstance(error, ClientError) else type(error).__name__
