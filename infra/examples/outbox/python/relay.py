"""Publishes the events of the table outbox to Herald's EventsQueue. Several may run at once.

    pip install 'psycopg[binary]' boto3
    DATABASE_URL=postgres://… EVENTS_QUEUE_URL=https://sqs.… PYTHONPATH=infra/examples/publisher/python \\
        python infra/examples/outbox/python/relay.py

It needs publisher.py beside it or on PYTHONPATH. AWS's SDK finds region and credentials as it always does. The relay
ends after SIGTERM, when what it has claimed is sent.
"""

import argparse
import json
import os
import re
import signal
import sys
import time
from dataclasses import dataclass, field
from typing import Any

import boto3
import psycopg
from botocore.config import Config
from publisher import Message, publish

MAX_FAILURES = 20  # of one row while others go: an hour
FAULTY = re.compile("TooLong|InvalidMessageContents|InvalidParameterValue|MissingParameter|MissingId")  # never taken

CLAIM = """WITH due AS MATERIALIZED (
    SELECT seq FROM outbox WHERE leased_until NOT BETWEEN now() AND now() + interval '10 minutes' -- no lease is longer
    ORDER BY seq LIMIT %s FOR UPDATE SKIP LOCKED
)
UPDATE outbox SET leased_until = now() + %s * interval '1 s' FROM due WHERE outbox.seq = due.seq
RETURNING outbox.seq, left(tenant_id, 129), left(traceparent, 129), octet_length(body) > 262144,
    CASE WHEN octet_length(body) <= 262144 THEN body ELSE '' END, failures"""
SENT = "DELETE FROM outbox WHERE seq = ANY(%s)"
REFUSED = """WITH gone AS (
    DELETE FROM outbox WHERE seq = %s RETURNING seq, tenant_id, subject, body, traceparent, written_at
)
INSERT INTO outbox_refused (seq, tenant_id, subject, body, traceparent, written_at, reason)
SELECT gone.*, %s FROM gone"""
DELAYED = """UPDATE outbox SET failures = failures + %s,
    leased_until = now() + least(power(2, failures), 300) * interval '1 s' WHERE seq = %s"""
RELEASED = "UPDATE outbox SET leased_until = '-infinity' WHERE seq = ANY(%s)"
WAITING = """SELECT (SELECT count(*) FROM (SELECT FROM outbox LIMIT %(most)s) AS waiting),
    (SELECT count(*) FROM (SELECT FROM outbox_refused LIMIT %(most)s) AS refused),
    coalesce((SELECT extract(epoch FROM clock_timestamp() - written_at) FROM outbox ORDER BY seq LIMIT 1), 0)::float8"""
BOUND = "UPDATE outbox_bound SET upto = (SELECT last_value FROM outbox_seq_seq) + %s"  # that services may write to

# A connection whose other end is gone without a word is given up after some 20 seconds.
SEVERED: dict[str, Any] = {
    "connect_timeout": 10, "tcp_user_timeout": 20_000, "keepalives_idle": 10, "keepalives_interval": 5
}


@dataclass
class Row:
    """Is a claimed row. Its body is not read if SQS would not take it."""

    seq: int
    message: Message
    large: bool
    failures: int

    def fault(self) -> str:
        """Says why the row must not be sent: without an id, a second send would make a second event."""
        if self.large:
            return "MessageTooLong"
        try:
            fields = json.loads(self.message["body"], parse_int=float)  # an int of 10,000 digits would be an error
        except (ValueError, RecursionError):
            return "InvalidMessageContents"
        named = isinstance(fields, dict) and isinstance(fields.get("id"), str) and fields["id"]
        return "" if named else "MissingId"


@dataclass
class Relay:
    """Claims rows, publishes them outside any transaction, and deletes what SQS took."""

    options: argparse.Namespace
    sqs: Any
    size: int = 1  # of the next claim: 1 after an error, so that a row that causes errors is found
    well: bool = False  # SQS has taken something since the last error
    stopped: bool = False
    measured: float = 0
    counts: dict[str, int] = field(default_factory=lambda: {"Sent": 0, "Refused": 0, "Errors": 0})

    def run(self) -> None:
        """Works until it is stopped. After an error it connects again, with growing waits."""
        wait = 0.0
        while not self.stopped:
            try:
                with psycopg.connect(
                    os.environ["DATABASE_URL"], autocommit=True, prepare_threshold=None, **SEVERED
                ) as db:
                    db.execute("SET statement_timeout = '10s'")
                    db.execute("LISTEN outbox")
                    while not self.stopped:
                        self.measure(db)
                        if not self.round(db):
                            for _ in db.notifies(timeout=self.options.poll, stop_after=1):
                                pass
                        wait = 0
            except Exception as error:  # of the database, of SQS, or of a row that no one foresaw
                self.counts["Errors"] += 1
                wait = min(max(2 * wait, 0.1), 30)
                print(json.dumps({"error": repr(error)[:2000], "wait": wait}), file=sys.stderr, flush=True)
                time.sleep(0 if self.stopped else wait)

    def round(self, db: psycopg.Connection) -> bool:
        """Claims rows and publishes them. Those that failed before go last and alone, so that they hold up no other."""
        found = db.execute(CLAIM, (self.size, self.options.lease)).fetchall()
        rows = [
            Row(seq, {"tenant_id": tenant, "body": body, "traceparent": trace}, large, failures)
            for seq, tenant, trace, large, body, failures in found
        ]
        self.send(db, [row for row in rows if not row.failures])
        for row in rows:
            if row.failures:
                self.send(db, [row])
        return bool(rows)

    def send(self, db: psycopg.Connection, rows: list[Row]) -> None:
        """Publishes rows, and stores what became of them."""
        reasons = {row.seq: reason for row in rows if (reason := row.fault())}
        good = {id(row.message): row for row in rows if row.seq not in reasons}
        try:
            not_sent = publish(self.sqs, self.options.queue, [row.message for row in good.values()])
        except Exception:
            self.give_back(db, list(good.values()))
            raise
        reasons |= {good[id(message)].seq: reason for message, reason in not_sent}
        sent = [row.seq for row in rows if row.seq not in reasons]
        blame = bool(sent) or self.well
        if rows:
            self.well = bool(sent)
        if sent:
            self.size = min(2 * self.size, self.options.batch)
            self.counts["Sent"] += len(sent)
            db.execute(SENT, (sent,))
        for row in rows:
            if row.seq in reasons:
                self.judge(db, row, reasons[row.seq], blame)

    def give_back(self, db: psycopg.Connection, rows: list[Row]) -> None:
        """Gives rows back after an error."""
        blame, self.well, self.size = self.well, False, 1
        if len(rows) > 1:
            db.execute(RELEASED, ([row.seq for row in rows],))
        else:
            self.judge(db, rows[0], "RequestFailed", blame)

    def judge(self, db: psycopg.Connection, row: Row, reason: str, blame: bool) -> None:
        """Sets a row aside for good, or puts it off. It is to blame if others went since the last failure; in an
        outage none is."""
        if FAULTY.search(reason) or (blame and row.failures + 1 >= MAX_FAILURES):
            self.counts["Refused"] += 1
            db.execute(REFUSED, (row.seq, reason))
        else:
            db.execute(DELAYED, (int(blame), row.seq))

    def measure(self, db: psycopg.Connection) -> None:
        """Keeps the bound, and writes a line in CloudWatch's embedded metric format. A relay that cannot reach its
        database writes none, so an alarm has to take missing data as bad."""
        if time.monotonic() < self.measured + self.options.measure:
            return
        self.measured = time.monotonic()
        waiting, refused, oldest = db.execute(WAITING, {"most": self.options.most}).fetchone() or (0, 0, 0.0)
        db.execute(BOUND, (self.options.most - waiting - refused,))
        values = {"Waiting": waiting, "SetAside": refused, "OldestSeconds": oldest, **self.counts}
        metrics = [{"Namespace": "Outbox", "Dimensions": [[]], "Metrics": [{"Name": name} for name in values]}]
        about = {"Timestamp": int(time.time() * 1000), "CloudWatchMetrics": metrics}
        print(json.dumps({**values, "_aws": about}), flush=True)
        self.counts = dict.fromkeys(self.counts, 0)


def main() -> None:
    """Reads the options and works until a signal comes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-batch", type=int, default=100, help="rows of a claim, of at most 256 KiB each")
    parser.add_argument("-lease", type=float, default=30, help="seconds until a dead relay's rows are claimed again")
    parser.add_argument("-poll", type=float, default=1, help="seconds between claims, while no NOTIFY comes")
    parser.add_argument("-measure", type=float, default=10, help="seconds between lines with metrics")
    parser.add_argument("-most", type=int, default=1_000_000, help="events in both tables; beyond it, inserts fail")
    options = parser.parse_args()
    if options.lease > 300:
        parser.error("a lease lasts 300 seconds at most")
    options.queue = os.environ["EVENTS_QUEUE_URL"]
    config = Config(connect_timeout=3, read_timeout=5, retries={"mode": "standard", "max_attempts": 2})
    relay = Relay(options, boto3.client("sqs", config=config), size=options.batch)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: setattr(relay, "stopped", True))
    relay.run()


if __name__ == "__main__":
    main()
