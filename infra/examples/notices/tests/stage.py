"""The recipe's functions on an emulator of AWS, with the table and the rights of owners.yaml.

Tests say what time it is. The stage keeps the mails that SES took, the log, and each function's calls.
"""

import contextlib
import importlib
import io
import json
import os
import sys
import unittest
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError
from moto import mock_aws
from moto.dynamodb.models import dynamodb_backends
from samtranslator.yaml_helper import yaml_parse

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "owners"))
RESOURCES: dict[str, Any] = yaml_parse((HERE.parent / "owners.yaml").read_text())["Resources"]
SENDER, PAGE = "noreply@sender.example", "https://page.example/notices"
DAY = 86400

os.environ.update(
    AWS_DEFAULT_REGION="us-east-1", AWS_ACCESS_KEY_ID="test", AWS_SECRET_ACCESS_KEY="test", TABLE="owners", KEY="key",
    ENDPOINTS_TABLE="endpoints", SENDER=SENDER, CONFIGURATION_SET="mails", CONFIRM="on", MAILS_PER_DAY="200",
    KEPT_DAYS="7", ANSWER_SECONDS="15", PAGE=PAGE,
)
mock_aws().start()

import boto3  # noqa: E402 - after the emulator has begun

MADE = RESOURCES["Table"]["Properties"]
dynamodb, ses, sqs = boto3.resource("dynamodb"), boto3.client("sesv2"), boto3.client("sqs")
rows = dynamodb.create_table(
    TableName="owners", BillingMode="PAY_PER_REQUEST",
    AttributeDefinitions=[dict(one) for one in MADE["AttributeDefinitions"]],
    KeySchema=[dict(one) for one in MADE["KeySchema"]],
)
endpoints = dynamodb.create_table(
    TableName="endpoints", BillingMode="PAY_PER_REQUEST",
    AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("tenant_id", "endpoint_id")],
    KeySchema=[{"AttributeName": "tenant_id", "KeyType": "HASH"}, {"AttributeName": "endpoint_id", "KeyType": "RANGE"}],
)
boto3.client("secretsmanager").create_secret(Name="key", SecretString="a secret")
ses.create_email_identity(EmailIdentity="sender.example")
os.environ["QUEUE_URL"] = sqs.create_queue(QueueName="notices")["QueueUrl"]

calls: dict[str, set[str]] = {"mailer": set(), "page": set(), "report": set()}
running = [""]
boto3.setup_default_session()


def note(model: Any, **_: Any) -> None:
    if running[0]:
        calls[running[0]].add(f"{model.service_model.service_name} {model.name}")


boto3.DEFAULT_SESSION.events.register("before-call", note)
for name in calls:  # their clients are made as they are loaded, and Lambda does that once
    running[0] = name
    importlib.import_module(name)
running[0] = ""
import mailer  # noqa: E402
import page  # noqa: E402
import report  # noqa: E402
from book import Book  # noqa: E402

took: list[dict[str, Any]] = []
refuses: list[str] = []  # codes with which SES refuses the next mails


def answer(params: dict[str, Any], **_: Any) -> None:
    if refuses:
        to = params["Destination"]["ToAddresses"][0]
        code = refuses.pop(0)
        metadata = {"HTTPStatusCode": 500 if code == "InternalFailure" else 400}
        said = {"Error": {"Code": code, "Message": f"not to {to}"}, "ResponseMetadata": metadata}
        raise ClientError(said, "SendEmail")  # type: ignore[arg-type]
    took.append(params)


mailer.mailer.ses.meta.events.register("provide-client-params.sesv2.SendEmail", answer)


class Stage(unittest.TestCase):
    """One test, with empty tables, at noon of a day."""

    maxDiff = None

    def setUp(self) -> None:
        self.now, self.log, self.made = 20_000 * DAY + DAY // 2, io.StringIO(), 0
        Book.now = lambda _: self.now  # type: ignore[method-assign]
        for table in dynamodb_backends["123456789012"]["us-east-1"].tables.values():
            table.items.clear()
        self.queued()
        took.clear()
        refuses.clear()
        os.environ.update(CONFIRM="on", MAILS_PER_DAY="200", ENDPOINTS_TABLE="endpoints")

    def contact(self, contact: str, tenant: str = "acme", endpoint: str = "webhook_1") -> None:
        endpoints.put_item(
            Item={"tenant_id": tenant, "endpoint_id": f"#about#{endpoint}", "contact": contact, "metadata": {"a": "b"}}
        )

    def notice(self, kind: str = "circuit_opened", **fields: Any) -> dict[str, Any]:
        self.made += 1
        n = {
            "kind": kind, "tenant_id": "acme", "endpoint_id": "webhook_1", "host": "hooks.example.com",
            "description": "orders", "at": f"2026-11-28T21:30:00.{self.made:03}Z",
        } | fields
        return {"id": f"{n['endpoint_id']}/{kind}/{1795901400000 + int(n['at'][20:23])}"} | n

    def run_(self, name: str, function: Any, event: dict[str, Any]) -> Any:
        before, running[0] = running[0], name
        try:
            with contextlib.redirect_stdout(self.log):
                return function(event, None)
        finally:
            running[0] = before

    def hand_over(self, *notices: Any) -> Any:
        records = [{"messageId": str(n), "body": json.dumps({"detail": one})} for n, one in enumerate(notices)]
        return self.run_("mailer", mailer.handler, {"Records": records})

    def tell(self, *notices: Any) -> list[str]:
        """Has the function mail notices. Returns what it did, by its log."""
        begin = len(self.log.getvalue())
        answered = self.hand_over(*notices)
        lines = [json.loads(line) for line in self.log.getvalue()[begin:].splitlines()]
        failed = [str(n) for n, line in enumerate(lines) if line["did"].startswith("failed")]
        self.assertEqual(failed, [one["itemIdentifier"] for one in answered["batchItemFailures"]])
        return [line["did"] for line in lines]

    def browse(self, url: str, method: str = "POST", body: str = "") -> tuple[int, str]:
        """Opens a link of a mail, or presses its page's button."""
        event = {"rawQueryString": url.partition("?")[2], "body": body, "requestContext": {"http": {"method": method}}}
        shown = self.run_("page", page.handler, event)
        self.assertIn("default-src 'none'", shown["headers"]["content-security-policy"])
        return shown["statusCode"], shown["body"]

    def report(self, kind: str, to: str, **fields: Any) -> None:
        told = {"eventType": kind, "mail": {"destination": [to]}} | fields
        self.run_("report", report.handler, {"Records": [{"Sns": {"Message": json.dumps(told)}}]})

    def link(self, of: int = -1) -> str:
        text: str = took[of]["Content"]["Simple"]["Body"]["Text"]["Data"]
        return next(word for word in text.split() if word.startswith(PAGE))

    def confirmed(self, address: str, tenant: str = "acme", endpoint: str = "webhook_1") -> None:
        """Has an owner confirm, without a mail of their limits."""
        self.contact(address, tenant, endpoint)
        who, what = mailer.mailer.names.mailbox(address), mailer.mailer.names.owner(tenant, address)
        rows.put_item(Item={"who": who, "what": what, "consent": "confirmed", "expires_at": self.now + 90 * DAY})

    def to(self) -> list[str]:
        return [one["Destination"]["ToAddresses"][0] for one in took]

    def queued(self) -> list[dict[str, Any]]:
        """Receives what waits on the queue."""
        found: list[dict[str, Any]] = []
        while got := sqs.receive_message(QueueUrl=os.environ["QUEUE_URL"], MaxNumberOfMessages=10).get("Messages"):
            for message in got:
                sqs.delete_message(QueueUrl=os.environ["QUEUE_URL"], ReceiptHandle=message["ReceiptHandle"])
                found.append(json.loads(message["Body"])["detail"])
        return found
