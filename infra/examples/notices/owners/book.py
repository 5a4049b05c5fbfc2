"""The table of the recipe: limits, confirmations, and which notices were told. Every row expires.

Rows by their keys (who, what):
  mailbox#…, limits    the times of its last three mails; alone: why it gets no more
  mailbox#…, owner#…   of a tenant and an exact address: asked, confirmed or stopped
  …, day#… and asks#…  counters of a mailbox, a tenant or the stack
  notice#…, -          what became of a notice
"""

import time
from typing import Any

from boto3.dynamodb.conditions import Key
from botocore.exceptions import ClientError

DAY = 86400
LIFE = 90 * DAY
LEASE = 120  # seconds for a notice, less than the queue hides it
ANSWER = 7 * DAY  # to confirm

Row = dict[str, Any]


class Busy(Exception):
    """Another process works on the notice, or died at it. It comes again."""


class Book:
    def __init__(self, table: Any) -> None:
        self.table = table

    def now(self) -> int:
        return int(time.time())

    def change(self, who: str, what: str, update: str, condition: str = "", **values: Any) -> Row | None:
        """Changes a row. Returns what it was, or None if the condition does not hold."""
        given: Row = {f":{name}": value for name, value in values.items()}
        more: Row = {"ConditionExpression": condition} if condition else {}
        if given:
            more["ExpressionAttributeValues"] = given
        try:
            done = self.table.update_item(
                Key={"who": who, "what": what}, UpdateExpression=update, ReturnValues="ALL_OLD", **more
            )
        except ClientError as error:
            if error.response["Error"]["Code"] == "ConditionalCheckFailedException":
                return None
            raise
        old: Row = done.get("Attributes", {})
        return old

    def row(self, who: str, what: str) -> Row:
        found: Row = self.table.get_item(Key={"who": who, "what": what}, ConsistentRead=True).get("Item", {})
        return found

    # ---- notices

    def claim(self, notice: str) -> bool:
        """Says whether a notice is to be told. One whose owner was asked to confirm first may be told again."""
        now = self.now()
        if self.change(
            f"notice#{notice}", "-", "SET lease = :end, expires_at = :expires",
            "(attribute_not_exists(did) OR did = :asked) AND (attribute_not_exists(lease) OR lease < :now)",
            asked="asked", end=now + LEASE, now=now, expires=now + LIFE,
        ) is not None:
            return True
        if self.row(f"notice#{notice}", "-").get("did") in (None, "asked"):
            raise Busy
        return False

    def finish(self, notice: str, did: str) -> None:
        self.change(f"notice#{notice}", "-", "SET did = :did REMOVE lease", did=did)

    def close(self, notice: str) -> bool:
        """Says whether the notice of a beginning was mailed, when its end comes. If it was not, it never will be."""
        was = self.change(
            f"notice#{notice}", "-", "SET did = :over, expires_at = :expires",
            "(attribute_not_exists(did) OR did = :asked) AND (attribute_not_exists(lease) OR lease < :now)",
            over="over", asked="asked", now=self.now(), expires=self.now() + LIFE,
        )
        if was is not None:
            return False
        did = self.row(f"notice#{notice}", "-").get("did")
        if did is None:
            raise Busy
        return bool(did == "sent")

    # ---- limits

    def count(self, who: str, name: str, days: int, most: int) -> tuple[str, str] | None:
        """Counts one in the present period of so many days. Returns the counter, or None if it has reached its most."""
        period = self.now() // (days * DAY)
        what = f"{name}#{period}"
        end = (period + 1) * days * DAY
        if self.change(
            who, what, "SET n = if_not_exists(n, :none) + :one, expires_at = :end",
            "attribute_not_exists(n) OR n < :most", none=0, one=1, most=most, end=end,
        ) is None:
            return None
        return who, what

    def uncount(self, who: str, what: str) -> None:
        self.change(who, what, "SET n = n - :one", "n > :none", one=1, none=0)

    def slot(self, who: str, slots: tuple[str, ...]) -> tuple[str, str] | None:
        """Takes one of a mailbox's slots, each of which is for one mail in 24 hours."""
        now = self.now()
        for slot in slots:
            if self.change(
                who, "limits", f"SET {slot} = :now, expires_at = :end",
                f"attribute_not_exists({slot}) OR {slot} <= :ago",
                now=now, ago=now - DAY, end=now + LIFE,
            ) is not None:
                return who, slot
        return None

    def unslot(self, who: str, slot: str) -> None:
        self.change(who, "limits", f"REMOVE {slot}", f"attribute_exists({slot})")

    def leave_alone(self, who: str, why: str) -> None:
        self.change(who, "limits", "SET alone = :why, expires_at = :end", why=why, end=self.now() + LIFE)

    # ---- owners

    def consent(self, who: str, what: str) -> str:
        """Returns asked, confirmed or stopped, or nothing. DynamoDB may delete a row days after it has expired."""
        found = self.row(who, what)
        return str(found["consent"]) if found.get("expires_at", 0) > self.now() else ""

    def ask(self, who: str, what: str, proof: str, notice: str) -> bool:
        """Notes that an owner is being asked. It says no if another process asks, or the owner has answered."""
        now = self.now()
        return self.change(
            who, what, "SET consent = :asked, proof = :proof, notice = :notice, expires_at = :end",
            "attribute_not_exists(expires_at) OR expires_at <= :now",
            asked="asked", proof=proof, notice=notice, now=now, end=now + LEASE,
        ) is not None

    def asked(self, who: str, what: str, counted: list[list[str]]) -> None:
        """Keeps the question for as long as it may be answered. Until then, a process that died may have left it."""
        self.change(
            who, what, "SET counted = :counted, expires_at = :end", "consent = :asked",
            counted=counted, asked="asked", end=self.now() + ANSWER,
        )

    def keep(self, who: str, what: str) -> None:
        """Puts off the end of a row, which is of use."""
        self.change(who, what, "SET expires_at = :end", "attribute_exists(expires_at)", end=self.now() + LIFE)

    def forget(self, who: str, what: str) -> None:
        self.table.delete_item(Key={"who": who, "what": what})

    def erase(self, who: str) -> int:
        """Deletes all rows of a mailbox, and returns how many there were."""
        gone = 0
        start: Row = {}
        while True:
            page = self.table.query(KeyConditionExpression=Key("who").eq(who), ConsistentRead=True, **start)
            for row in page["Items"]:
                self.forget(row["who"], row["what"])
                gone += 1
            if "LastEvaluatedKey" not in page:
                return gone
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
