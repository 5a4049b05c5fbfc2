"""Publishes events to Herald's EventsQueue, in batches."""

import time

BATCH, BYTES, TRIES = 10, 256 * 1024, 5  # SQS takes ten messages in a request


def publish(sqs, queue_url, messages, wait=time.sleep):
    """Sends messages, and returns those that SQS did not take, each with its code.

    sqs is boto3.client("sqs"). A message is a dict of body, an event that was encoded once and has an id; tenant_id;
    and traceparent, or None. If this raises, it is not known what was sent: send all again, the ids make it safe.
    """
    not_sent = []
    for left in batches(messages):
        for attempt in range(TRIES):
            entries = [entry(n, message) for n, message in enumerate(left)]
            failed = sqs.send_message_batch(QueueUrl=queue_url, Entries=entries).get("Failed", [])
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


def batches(messages):
    """Groups messages as SQS takes them: by number, and by the bytes of all."""
    batch, size = [], 0
    for message in messages:
        n = len(message["body"].encode()) + 256  # the attribute included
        if batch and (len(batch) == BATCH or size + n > BYTES):
            yield batch
            batch, size = [], 0
        batch.append(message)
        size += n
    if batch:
        yield batch


def entry(n, message):
    """Is a message as SendMessageBatch takes it. The tenant as group keeps others' events from waiting behind it."""
    made = {"Id": str(n), "MessageBody": message["body"], "MessageGroupId": message["tenant_id"]}
    if message["traceparent"]:
        made["MessageAttributes"] = {"traceparent": {"DataType": "String", "StringValue": message["traceparent"]}}
    return made
