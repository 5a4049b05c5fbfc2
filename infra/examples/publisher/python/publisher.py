"""Publishes events to Herald's EventsQueue, in batches."""

import re
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypedDict

BATCH = 10  # messages that SQS takes in a request
BYTES = 256 * 1024  # that EventsQueue takes in a message; a request is kept below it as well
TRIES = 5

UNFIT = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that SQS refuses in a body
NAME = re.compile("[!-~]{1,128}")  # the groups that it takes
ITS_OWN = re.compile("TooLong|InvalidMessageContents|InvalidParameterValue|MissingParameter|Serialization")


class Message(TypedDict):
    """Is an event that was encoded once and has an id, its tenant and its trace."""

    body: str
    tenant_id: str
    traceparent: str | None


def publish(
    sqs: Any, queue_url: str, messages: Iterable[Message], wait: Callable[[float], object] = time.sleep
) -> list[tuple[Message, str]]:
    """Sends messages, and returns those that SQS did not take, each with its code.

    sqs is boto3.client("sqs"). A message that SQS would refuse is not sent, and all others are. If this raises, it is
    not known what was sent: send all again, the ids make it safe.
    """
    not_sent, good = [], []
    for message in messages:
        if code := fault(message):
            not_sent.append((message, code))
        else:
            good.append(message)
    for batch in batches(good):
        not_sent += send(sqs, queue_url, batch, wait)
    return not_sent


def fault(message: Message) -> str:
    """Is the code by which SQS would refuse a message, "" for a good one."""
    if not message["body"] or UNFIT.search(message["body"]):  # half a surrogate pair, or a control character
        return "InvalidMessageContents"
    if not NAME.fullmatch(message["tenant_id"] or ""):
        return "InvalidParameterValue"
    return "MessageTooLong" if size(message) > BYTES else ""


def send(
    sqs: Any, queue_url: str, left: list[Message], wait: Callable[[float], object]
) -> list[tuple[Message, str]]:
    """Sends a batch until SQS has taken all that it takes, and returns the others."""
    not_sent: list[tuple[Message, str]] = []
    for attempt in range(TRIES):
        entries = [entry(n, message) for n, message in enumerate(left)]
        try:
            failed = sqs.send_message_batch(QueueUrl=queue_url, Entries=entries).get("Failed", [])
        except Exception as error:
            code = getattr(error, "response", {}).get("Error", {}).get("Code", "")
            if not ITS_OWN.search(code):
                raise
            if len(left) == 1:
                return not_sent + [(left[0], code)]
            for message in left:  # one of them made SQS refuse the request
                not_sent += send(sqs, queue_url, [message], wait)
            return not_sent
        again = []
        for failure in failed:  # a request can succeed in part
            message = left[int(failure["Id"])]
            if failure["SenderFault"] or attempt == TRIES - 1:
                not_sent.append((message, failure["Code"]))
            else:
                again.append(message)
        left = again
        if not left:
            break
        wait(0.1 * 2**attempt)
    return not_sent


def batches(messages: list[Message]) -> Iterator[list[Message]]:
    """Groups messages as SQS takes them: by number, and by the bytes of all."""
    batch: list[Message] = []
    total = 0
    for message in messages:
        n = size(message)
        if batch and (len(batch) == BATCH or total + n > BYTES):
            yield batch
            batch, total = [], 0
        batch.append(message)
        total += n
    if batch:
        yield batch


def size(message: Message) -> int:
    """Is the number of bytes that SQS counts: of the body, and of an attribute's name, type and value."""
    value = trace(message)
    return len(message["body"].encode()) + (len("traceparent" + "String" + value) if value else 0)


def trace(message: Message) -> str:
    """Is the traceparent, "" without one that SQS takes."""
    value = message["traceparent"] or ""
    return value if NAME.fullmatch(value) else ""


def entry(n: int, message: Message) -> dict[str, Any]:
    """Is a message as SendMessageBatch takes it. The tenant as group keeps others' events from waiting behind it."""
    made: dict[str, Any] = {"Id": str(n), "MessageBody": message["body"], "MessageGroupId": message["tenant_id"]}
    if value := trace(message):
        made["MessageAttributes"] = {"traceparent": {"DataType": "String", "StringValue": value}}
    return made
