"""Starts moto's server with an SQS that does not count when nobody asked.

moto counts a queue several times for every message received, sent or deleted, which makes it quadratic, and its
stores take no locks, so that two requests at once can lose a message or both pass a conditional write. This launcher
keeps moto's behaviour and answers and changes ten things: the Approximate... attributes are computed only when they
are asked for, a message is found by its receipt handle instead of by search, requests that change the same queue, or
the same service other than SQS, run one after another, those whose sender has hung up not at all, a query does not
sort its whole table first, one for an attribute that its index lacks is refused, the attributes of an index are taken
as they are, a transaction copies the items that it writes instead of their tables, messages that are sent together
keep their traces, and connections and what every request looks up are kept. What else takes time for nothing is left
out, since the CPU of these requests is most of that of all tests.

It takes a free port of loopback and prints one line, "listening on URL", once it accepts connections. It ends when
its standard input does, which is when the program that started it ends.
"""

import copy
import functools
import io
import json
import logging
import os
import socket
import string
import sys
import threading
from collections import defaultdict
from typing import Any

os.environ["MOTO_ALLOW_NONEXISTENT_REGION"] = "true"  # read when moto is imported: the local stack's is "local"
sys.path.pop(0)  # the folder of this file, which would be taken for the package of the same name

from flask import request
from moto.core import responses
from moto.core.serialize import ResponseSerializer
from moto.core.utils import unix_time, unix_time_millis
from moto.dynamodb.exceptions import MockValidationException
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import Item
from moto.dynamodb.models.table import SecondaryIndex, Table
from moto.dynamodb.parsing.ast_nodes import UpdateExpression
from moto.dynamodb.parsing.validators import ActionCountValidator
from moto.kms import models as kms
from moto.kms.models import KmsBackend
from moto.moto_api._internal.moto_random import MotoRandom
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from moto.sqs import models
from moto.sqs.exceptions import ReceiptHandleIsInvalid
from werkzeug.serving import make_server
from werkzeug.test import run_wsgi_app

every_attribute = models.Queue.BASE_ATTRIBUTES
get_attributes = models.SQSBackend.get_queue_attributes
append_message = models.Queue.add_message
change_visibility = models.SQSBackend.change_message_visibility
send_batch = models.SQSBackend.send_message_batch
create_key = KmsBackend.create_key
make_key_pair = kms.generate_private_key
project_item = Item.project
query_table = Table.query
transact_write = DynamoDBBackend.transact_write_items
serialize_any = ResponseSerializer._serialize_structure_member


def get_queue_attributes(self: models.SQSBackend, queue_name: str, attribute_names: list[str]) -> dict[str, Any]:
    """Shows moto the attributes that it has to count, which at all other times a queue does not have."""
    queue = self.get_queue(queue_name)
    with queue._messages_lock:
        queue.BASE_ATTRIBUTES = every_attribute
        try:
            return get_attributes(self, queue_name, attribute_names)
        finally:
            del queue.BASE_ATTRIBUTES


def receipts(queue: models.Queue) -> dict[str, models.Message]:
    """Every receipt handle ever given out for a message that is still in the queue."""
    return queue.__dict__.setdefault("_receipts", {})


def receive(queue: models.Queue, count: int, visibility: int, names: list[str]) -> tuple[list[models.Message], float]:
    """Takes up to count messages, as moto does, and tells when the next hidden one comes due (ms)."""
    now = unix_time_millis()
    expired_before = now - queue.message_retention_period * 1000
    limit = queue.redrive_policy["maxReceiveCount"] if queue.dead_letter_queue and queue.redrive_policy else 0
    taken: list[models.Message] = []
    gone: set[int] = set()
    due = float("inf")
    for message in queue._messages:
        hidden_until = max(message.visible_at, message.delayed_until)
        if message.sent_timestamp <= expired_before:
            gone.add(id(message))
        elif hidden_until >= now:
            due = min(due, hidden_until)
        elif limit and message.approximate_receive_count >= limit:
            gone.add(id(message))
            queue.dead_letter_queue.add_message(message)
        else:
            message.mark_received(visibility_timeout=visibility)
            receipts(queue)[message.receipt_handle] = message
            queue.pending_messages.add(message)
            answer = copy.copy(message)
            models._filter_message_attributes(answer, names)
            taken.append(answer)
            if len(taken) >= count:
                break
    if gone:
        queue._messages = [m for m in queue._messages if id(m) not in gone]
    return taken, due


def receive_message(
    self: models.SQSBackend,
    queue_name: str,
    count: int,
    wait_seconds_timeout: int,
    visibility_timeout: int,
    message_attribute_names: list[str] | None = None,
) -> list[models.Message]:
    queue = self.get_queue(queue_name)
    end = unix_time() + wait_seconds_timeout
    with queue._messages_lock:
        while True:
            taken, due = receive(queue, count, visibility_timeout, message_attribute_names or [])
            remaining = end - unix_time()
            if taken or remaining <= 0:
                return taken
            queue._messages_lock.wait(min(remaining, max(due - unix_time_millis(), 1) / 1000 + 0.001))


def add_message(self: models.Queue, message: models.Message) -> None:
    with self._messages_lock:
        append_message(self, message)


def send_message_batch(
    self: models.SQSBackend, queue_name: str, entries: dict[str, dict[str, Any]]
) -> tuple[list[models.Message], list[dict[str, Any]]]:
    """Keeps the trace of each message, and gives the call's to those that have none. moto keeps it of single ones."""
    call = request.headers.get("X-Amzn-Trace-Id")
    stamp = {"AWSTraceHeader": {"DataType": "String", "StringValue": call}} if call else {}
    own = {entry["Id"]: entry.get("MessageSystemAttributes") for entry in entries.values()}
    with self.get_queue(queue_name)._messages_lock:
        messages, failed = send_batch(self, queue_name, entries)
        for message in messages:
            message.system_attributes = own[message.user_id] or stamp
    return messages, failed


def delete_message(self: models.Queue, receipt_handle: str) -> None:
    with self._messages_lock:
        if receipt_handle in self.deleted_messages:
            return
        message = receipts(self).get(receipt_handle)
        if message is None:
            raise ReceiptHandleIsInvalid()
        for handle in message.all_receipt_handles:
            if handle is not None:
                receipts(self).pop(handle, None)
                self.deleted_messages.add(handle)
        self.pending_messages.discard(message)
        if message in self._messages:
            self._messages.remove(message)


def change_message_visibility(
    self: models.SQSBackend, queue_name: str, receipt_handle: str, visibility_timeout: int
) -> None:
    queue = self.get_queue(queue_name)
    with queue._messages_lock:
        message = receipts(queue).get(receipt_handle)
        if message is None:
            raise ReceiptHandleIsInvalid()
        # moto looks for the handle in every message of the queue: show it only this one.
        everything, queue._messages = queue._messages, [message]
        try:
            change_visibility(self, queue_name, receipt_handle, visibility_timeout)
        finally:
            queue._messages = everything
        queue._messages_lock.notify_all()


def create_key_of_template(
    self: KmsBackend,
    policy: Any,
    key_usage: str,
    key_spec: str,
    description: str,
    tags: list[dict[str, str]] | None,
    *arguments: Any,
    **named: Any,
) -> Any:
    """CloudFormation hands over the policy as an object, and tags in its own form; moto fails on both."""
    text = json.dumps(policy) if isinstance(policy, dict) else policy
    tags = [{"TagKey": tag["Key"], "TagValue": tag["Value"]} if "Key" in tag else tag for tag in tags or []]
    return create_key(self, text, key_usage, key_spec, description, tags, *arguments, **named)


def generate_private_key(key_spec: str) -> Any:
    """Makes a pair where a key has one. moto makes one of RSA for symmetric keys, too, which takes 50 ms."""
    return None if key_spec == "SYMMETRIC_DEFAULT" else make_key_pair(key_spec)


def count_actions(self: ActionCountValidator, root: UpdateExpression) -> UpdateExpression:
    """Counts the clauses of an update once. moto does so again from each of their parts."""
    return self.verify_action_counts(root)


def random_string(self: MotoRandom, length: int = 20, include_digits: bool = True, lower_case: bool = False) -> str:
    """As moto's, drawn at once: every answer has one of 52 characters."""
    text = "".join(self.choices(string.ascii_letters + string.digits * include_digits, k=length))
    return text.lower() if lower_case else text


def generate_receipt_handle() -> str:
    """As moto's, drawn at once."""
    return "".join(models.random.choices(string.ascii_lowercase, k=185))


def serialize_member(self: ResponseSerializer, serialized: Any, value: Any, shape: Any, key: str) -> None:
    """Takes an item's attributes as they are: moto looks for each of their ten types under up to twenty names."""
    if shape.parent.name != "AttributeValue":
        serialize_any(self, serialized, value, shape, key)
    elif key in value:
        self._serialize(serialized, value[key], shape, key)


def project(self: Item, paths: list[list[str]]) -> Item:
    """Takes whole attributes as they are. For each name moto makes all values of the item anew: of 10,000 items with
    sixteen attributes that takes seconds."""
    if any(len(path) > 1 or path[0].endswith("]") for path in paths):
        return project_item(self, paths)
    item = Item(self.hash_key, self.range_key, {})
    for path in paths:
        if path[0] in self.attrs:
            dict.__setitem__(item.attrs, path[0], self.attrs[path[0]])  # its size was checked when it was stored
    return item


def refuse_lacking(index: SecondaryIndex, asked: set[str]) -> None:
    """Refuses a query for attributes that its index does not have, in the words of AWS's own emulator."""
    has = {*index.table_key_attrs, *index.schema_key_attrs, *index.projection.get("NonKeyAttributes", [])}
    if index.projection["ProjectionType"] != "ALL" and asked - has:
        raise MockValidationException(
            "One or more parameter values were invalid: "
            f"Global secondary index {index.name} does not project [{', '.join(sorted(asked - has))}]"
        )


def query(self: Table, hash_key: Any, *arguments: Any, **named: Any) -> Any:
    """Shows moto the items unsorted, and only those with the key: it sorts the ones that match all the same. Items of
    an index are what it has of them, as on AWS: moto measures and copies whole ones."""
    index = next((i for i in self.all_indexes() if i.name == arguments[6]), None)
    found = self.items.values() if arguments[6] else [self.items[hash_key]] if hash_key in self.items else []
    items = [item for held in found for item in (held.values() if self.range_key_attr else [held])]
    if index:
        refuse_lacking(index, {path[0].partition("[")[0] for path in arguments[5] or []})
        keys = [(name, key.value) for name, key in named["hash_key_conditions"]]
        items = [
            index.project(item)
            for item in items
            if all(name in item.attrs and item.attrs[name].value == value for name, value in keys)
        ]
    self.all_items = lambda: items
    try:
        return query_table(self, hash_key, *arguments, **named)
    finally:
        del self.all_items


def transact_write_items(self: DynamoDBBackend, writes: list[dict[str, Any]]) -> None:
    """Puts back the items of a transaction that fails. moto puts back whole tables, which it copies for each write."""
    before = []
    for write in writes:
        operation = next(iter(write.values()))
        table = self.get_table(operation["TableName"])
        key = self.get_keys_value(table, operation.get("Item") or operation["Key"])
        before.append((table, *key, copy.deepcopy(table.get_item(*key))))
    Table.__deepcopy__ = lambda table, _: table
    try:
        transact_write(self, writes)
    except Exception:
        for table, hash_key, range_key, item in before:
            if item is None:
                table.delete_item(hash_key, range_key)
            elif range_key:
                table.items[hash_key][range_key] = item
            else:
                table.items[hash_key] = item
        raise
    finally:
        del Table.__deepcopy__


def gone(environ: dict[str, Any]) -> bool:
    """Tells whether who asked has hung up. The SDK asks again then: on a busy machine nothing else would be done."""
    try:
        return not environ["werkzeug.socket"].recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True


class Application(DomainDispatcherApplication):
    """Dispatches as moto does, one request at a time for every service but SQS, whose queues lock themselves."""

    def __init__(self) -> None:
        super().__init__(create_backend_app)
        self.services: dict[str, threading.RLock] = defaultdict(threading.RLock)

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        app = self.get_application(environ)
        if app.service == "sqs":
            return app(environ, start_response)
        with self.services[app.service]:
            if gone(environ):
                start_response("503 Service Unavailable", [])
                return []
            return app(environ, start_response)


class Handler(MotoRequestHandler):
    """Keeps connections open, and sends an answer at once instead of waiting for the peer's acknowledgement."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 64 * 1024

    def run_wsgi(self) -> None:
        """Reads the whole request before it is answered. Werkzeug's own does not, and so ends every connection."""
        environ = self.make_environ()
        size = -1 if environ.get("wsgi.input_terminated") else int(environ.get("CONTENT_LENGTH") or 0)
        environ["wsgi.input"] = io.BytesIO(environ["wsgi.input"].read(size))
        parts, status, headers = run_wsgi_app(self.server.app, environ, buffered=True)
        body = b"".join(parts)
        headers.setdefault("Content-Length", str(len(body)))
        code, _, reason = status.partition(" ")
        self.send_response(int(code), reason)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: Any = "-", size: Any = "-") -> None:
        pass


def patch() -> None:
    models.Queue.BASE_ATTRIBUTES = [name for name in every_attribute if not name.startswith("Approximate")]
    models.Queue.add_message = add_message
    models.Queue.delete_message = delete_message
    models.SQSBackend.get_queue_attributes = get_queue_attributes
    models.SQSBackend.send_message_batch = send_message_batch
    models.SQSBackend.receive_message = receive_message
    models.SQSBackend.change_message_visibility = change_message_visibility
    KmsBackend.create_key = create_key_of_template
    Item.project = project
    Table.query = query
    DynamoDBBackend.transact_write_items = transact_write_items
    ResponseSerializer._serialize_structure_member = serialize_member
    kms.generate_private_key = generate_private_key
    ActionCountValidator.traverse = count_actions
    MotoRandom.get_random_string = random_string
    models.generate_receipt_handle = generate_receipt_handle
    # What moto otherwise finds out anew for every request, from a folder and a class.
    DomainDispatcherApplication.get_backend_for_host = functools.cache(DomainDispatcherApplication.get_backend_for_host)
    responses.method_names_from_class = functools.cache(responses.method_names_from_class)
    responses.camelcase_to_underscores = functools.cache(responses.camelcase_to_underscores)
    models.camelcase_to_underscores = responses.camelcase_to_underscores


def end_with_parent() -> None:
    """Waits for the end of standard input, which the program that started this one holds open."""
    while os.read(0, 4096):
        pass
    os._exit(0)


def main() -> None:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    patch()
    threading.Thread(target=end_with_parent, daemon=True).start()
    server = make_server("127.0.0.1", 0, Application(), threaded=True, request_handler=Handler)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    sys.stdout = sys.stderr  # who waited for that line may have stopped reading
    server.serve_forever()


if __name__ == "__main__":
    main()
