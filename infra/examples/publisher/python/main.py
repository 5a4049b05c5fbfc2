"""Publishes the messages of standard input to an SQS that its other lines play; infra/examples tests it."""

import base64
import sys

from publisher import publish


class Refused(Exception):
    """Has what botocore's ClientError has."""

    def __init__(self, code):
        super().__init__(code)
        self.response = {"Error": {"Code": code}}


def rows():
    """Yields the fields of lines until an empty one."""
    for line in iter(lambda: sys.stdin.readline().rstrip("\n"), ""):
        yield line.split("\t")


class Played:
    """Is a client that prints each entry and reads the failures, or the refusal of all."""

    def send_message_batch(self, QueueUrl, Entries):
        for e in Entries:
            trace = e.get("MessageAttributes", {}).get("traceparent", {}).get("StringValue", "")
            body = base64.b64encode(e["MessageBody"].encode()).decode()
            print(e["Id"], e["MessageGroupId"], trace, body, sep="\t")
        print(flush=True)
        answer = list(rows())
        if answer and answer[0][0] == "refused":
            raise Refused(answer[0][1])
        return {"Failed": [{"Id": n, "SenderFault": fault == "sender", "Code": code} for n, fault, code in answer]}


messages = [
    {
        "tenant_id": tenant,
        "traceparent": trace or None,
        "body": base64.b64decode(body).decode("utf-16-le", "surrogatepass"),
    }
    for tenant, trace, body in rows()
]
for message, code in publish(Played(), "queue", messages, wait=lambda seconds: None):
    print("not sent", message["tenant_id"], code, sep="\t")
