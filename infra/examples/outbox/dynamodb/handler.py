"""A Lambda function that publishes what services put into a DynamoDB table to Herald's EventsQueue.

Items have event_id (the key), tenant_id, body and perhaps traceparent. Copy publisher.py beside this file; TABLE and
EVENTS_QUEUE_URL are its environment. README.md of the folder above has the settings of the stream and its mapping.
"""

import json
import os
import re
from typing import Any

import boto3
from publisher import Message, publish

FAULTY = re.compile("TooLong|InvalidMessageContents|InvalidParameterValue|MissingParameter|MissingId|RequestFailed")

sqs, dynamodb = boto3.client("sqs"), boto3.client("dynamodb")


def handler(event: dict[str, Any], _context: object) -> dict[str, list[dict[str, str]]]:
    """Publishes new items. Those from the first one in its answer on come again, until SQS takes them."""
    good: dict[int, dict[str, Any]] = {}
    messages: list[Message] = []
    for record in filter(is_new, event["Records"]):
        item = {name: value.get("S", "") for name, value in record["dynamodb"]["NewImage"].items()}
        trace = item.get("traceparent")
        message: Message = {"body": item["body"], "tenant_id": item.get("tenant_id", ""), "traceparent": trace}
        if reason := fault(item["body"]):
            set_aside(record["dynamodb"], reason)
        else:
            messages.append(message)
            good[id(message)] = record["dynamodb"]
    again = []
    for message, reason in send(messages):
        if FAULTY.search(reason):
            set_aside(good[id(message)], reason)
        else:
            again.append({"itemIdentifier": good[id(message)]["SequenceNumber"]})
    return {"batchItemFailures": again}


def is_new(record: dict[str, Any]) -> bool:
    """Says whether an item is to be sent: it was put, or someone has mended it and removed refused."""
    new, old = record["dynamodb"].get("NewImage", {}), record["dynamodb"].get("OldImage", {})
    return "body" in new and "refused" not in new and (record["eventName"] == "INSERT" or "refused" in old)


def fault(body: str) -> str:
    """Says why an event must not be sent: without an id, a second send would make a second event."""
    try:
        fields = json.loads(body, parse_int=float)  # an int of 10,000 digits would be an error
    except (ValueError, RecursionError):
        return "InvalidMessageContents"
    return "" if isinstance(fields, dict) and isinstance(fields.get("id"), str) and fields["id"] else "MissingId"


def send(messages: list[Message]) -> list[tuple[Message, str]]:
    """Publishes messages. If that fails, each is sent alone. One that fails twice, while another goes before and after
    that, is at fault itself; in an outage none is."""
    try:
        return publish(sqs, os.environ["EVENTS_QUEUE_URL"], messages)
    except Exception:
        reasons = [alone(message) for message in messages]
        if "" not in reasons:
            raise
    went = messages[reasons.index("")]
    for n, reason in enumerate(reasons):
        if reason == "RequestFailed":
            reasons[n] = alone(messages[n])
            if reasons[n] == reason and alone(went):  # its id makes one event of both
                reasons[n] = "Outage"
    return [(message, reason) for message, reason in zip(messages, reasons) if reason]


def alone(message: Message) -> str:
    """Publishes a message. It returns why SQS has not taken it, or nothing."""
    try:
        return "".join(reason for _, reason in publish(sqs, os.environ["EVENTS_QUEUE_URL"], [message]))
    except Exception:
        return "RequestFailed"


def set_aside(record: dict[str, Any], reason: str) -> None:
    """Keeps an item, with its reason and without its end, until someone mends it; counted as a metric."""
    try:
        dynamodb.update_item(
            TableName=os.environ["TABLE"],
            Key=record["Keys"],
            UpdateExpression="SET refused = :reason REMOVE expires_at",
            ConditionExpression="attribute_exists(body)",
            ExpressionAttributeValues={":reason": {"S": reason}},
        )
    except dynamodb.exceptions.ConditionalCheckFailedException:
        return  # it was erased meanwhile
    metrics = [{"Namespace": "Outbox", "Dimensions": [[]], "Metrics": [{"Name": "Refused"}]}]
    about = {"Timestamp": int(record["ApproximateCreationDateTime"]) * 1000, "CloudWatchMetrics": metrics}
    print(json.dumps({"Refused": 1, "reason": reason, "_aws": about}))
