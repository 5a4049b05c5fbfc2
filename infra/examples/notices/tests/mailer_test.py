"""What owners get, and how much of it at most."""

import json
from itertools import count
from unittest import main

from stage import DAY, HERE, SENDER, Stage, boto3, mailer, os, refuses, rows, took

DOWN = """Deliveries to your webhook endpoint at hooks.example.com are failing.

Since: 28 November 2026, 21:30 UTC
Why: it answered with an error (status 503)
Endpoint: webhook_1

What to do: your endpoint must answer each POST with a status from 200 to 299 within 15 seconds. We do not
follow redirects.

What happens now: we retry one delivery after 1, 2 and 4 minutes, then every 5 minutes. As soon as one succeeds, we send
all the others, oldest first. We keep waiting deliveries for days: the oldest until about """


class Telling(Stage):
    def test_says_what_is_down_since_when_and_until_when_it_is_kept(self) -> None:
        self.confirmed("ann@example.com")
        self.assertEqual(["sent"], self.tell(self.notice(reason="http_5xx", status=503)))
        [mail] = took
        text = mail["Content"]["Simple"]["Body"]["Text"]["Data"]
        self.assertEqual(f"{DOWN}05 December 2026, 21:30 UTC.\n\nStop these notices: {self.link()}\n", text)
        subject = mail["Content"]["Simple"]["Subject"]["Data"]
        self.assertEqual("Your webhook endpoint at hooks.example.com is down", subject)
        self.assertEqual((SENDER, ["ann@example.com"], "mails"), (
            mail["FromEmailAddress"], mail["Destination"]["ToAddresses"], mail["ConfigurationSetName"]))

    def test_reads_the_contact_and_nothing_else_of_the_endpoint(self) -> None:
        self.confirmed("ann@example.com")
        asked = []
        note = lambda params, **_: asked.append(params["ProjectionExpression"])  # noqa: E731
        events = mailer.mailer.endpoints.meta.events
        events.register("provide-client-params.dynamodb.GetItem", note)
        self.tell(self.notice(contact="mallory@example.com"))
        events.unregister("provide-client-params.dynamodb.GetItem", note)
        self.assertEqual((["tenant_id, endpoint_id, contact"], ["ann@example.com"]), (asked, self.to()))
        os.environ["ENDPOINTS_TABLE"] = ""
        self.assertEqual(["sent", "no address"], self.tell(self.notice(contact="ann@example.com"), self.notice()))

    def test_is_sent_once_however_often_it_comes(self) -> None:
        self.confirmed("ann@example.com")
        n = self.notice()
        self.assertEqual(["sent", "known", "known"], self.tell(n, n, n))

    def test_of_an_end_is_for_those_who_heard_of_the_beginning(self) -> None:
        self.confirmed("ann@example.com")
        first, second, third, limited = (self.notice() for _ in range(4))
        end = lambda n: self.notice("recovered", since=n["at"])  # noqa: E731
        self.assertEqual(["sent", "sent"], self.tell(first, end(first)))
        self.assertEqual(["nothing to end", "known"], self.tell(end(second), second))  # in the wrong order
        self.assertEqual(["sent", "limited", "known", "limited"], self.tell(third, end(third), third, limited))
        self.now += DAY
        self.assertEqual(["nothing to end"], self.tell(end(limited)))
        self.assertEqual(2, sum("is down" in one["Content"]["Simple"]["Subject"]["Data"] for one in took))


    def test_takes_what_herald_publishes_and_stores(self) -> None:
        formats = HERE.parents[2].parent / "internal/edges/dynamo/testdata/formats"
        stored = json.loads((formats / "endpoint-about.json").read_text())
        self.confirmed("ann@example.com")
        boto3.client("dynamodb").put_item(TableName="endpoints", Item=stored)
        published = json.loads((HERE / "notices.json").read_text())
        of = {"endpoint_id": stored["endpoint_id"]["S"].removeprefix("#about#"), "tenant_id": "acme"}
        told = []
        for n in published:
            self.now += DAY
            told += self.tell(n | of | {"id": n["id"].replace(n["endpoint_id"], of["endpoint_id"])})
        self.assertEqual(["sent"] * 5, told)


class Limits(Stage):
    def test_are_three_mails_in_24_hours_whatever_tenants_and_spellings(self) -> None:
        spellings = ("ann@example.com", "ANN@example.com", "Ann+hooks@EXAMPLE.com", "ann+2@example.com")
        told = []
        for n, address in enumerate(spellings):
            self.confirmed(mailer.checked(address), f"tenant-{n}", f"webhook_{n}")
            told += self.tell(self.notice(tenant_id=f"tenant-{n}", endpoint_id=f"webhook_{n}"))
        self.assertEqual(["sent", "sent", "sent", "limited"], told)
        for later, want in ((DAY - 1, "limited"), (1, "sent"), (0, "sent"), (0, "sent"), (0, "limited")):
            self.now += later
            self.assertEqual([want], self.tell(self.notice(tenant_id="tenant-0", endpoint_id="webhook_0")))

    def test_hold_where_two_mail_at_once(self) -> None:
        """Another process has the same notice and another one, and comes in at each call in turn. One mail is left."""
        self.confirmed("ann@example.com")
        clients = (mailer.mailer.book.table.meta.client, mailer.mailer.endpoints)
        for step in count():
            self.now += DAY
            took.clear()
            self.tell(self.notice(), self.notice())
            first, second, calls = self.notice(), self.notice(), count()

            def meddle(**_: object) -> None:
                if next(calls) == step:
                    self.hand_over(first, second)

            for client in clients:
                client.meta.events.register("before-call.dynamodb", meddle)
            self.hand_over(first)
            for client in clients:
                client.meta.events.unregister("before-call.dynamodb", meddle)
            self.assertEqual(3, len(took), f"at call {step}")
            if next(calls) <= step:
                break
        self.assertGreater(step, 8)

    def test_bound_a_tenant_and_the_stack(self) -> None:
        for n in range(4):
            self.confirmed(f"ann{n}@example.com", "acme", f"webhook_{n}")
            self.confirmed(f"bob{n}@example.com", f"tenant-{n}", f"webhook_{n}")
        for who, n in ((mailer.mailer.names.tenant("acme"), 18), ("stack", 196)):
            rows.put_item(Item={"who": who, "what": f"day#{self.now // DAY}", "n": n, "expires_at": self.now + DAY})
        of = lambda n, tenant: self.tell(self.notice(endpoint_id=f"webhook_{n}", tenant_id=tenant))[0]  # noqa: E731
        self.assertEqual(["sent", "sent", "limited", "limited"], [of(n, "acme") for n in range(4)])
        self.assertEqual(["sent", "sent", "limited", "limited"], [of(n, f"tenant-{n}") for n in range(4)])
        self.now += DAY // 2  # another day; what was limited has cost nobody a mail
        self.assertEqual(["sent"] * 3 + ["limited"], [of(3, "tenant-3") for _ in range(4)])

    def test_do_not_count_what_ses_refuses(self) -> None:
        self.confirmed("ann@example.com")
        refuses.extend(["TooManyRequestsException", "MessageRejected", "SendingPausedException"])
        self.assertEqual(["failed: TooManyRequestsException", "refused by SES: MessageRejected",
                          "failed: SendingPausedException"], self.tell(*(self.notice() for _ in range(3))))
        self.assertEqual(["sent"] * 3 + ["limited"], self.tell(*(self.notice() for _ in range(4))))

    def test_count_what_may_have_gone_out(self) -> None:
        self.confirmed("ann@example.com")
        refuses.append("InternalFailure")
        self.assertEqual(["failed: InternalFailure", "sent", "sent", "limited"], self.tell(
            *(self.notice() for _ in range(4))))
        self.assertEqual(1, mailer.mailer.ses.meta.config.retries["total_max_attempts"])

    def test_let_a_notice_come_again_after_a_failure(self) -> None:
        self.confirmed("ann@example.com")
        refuses.append("TooManyRequestsException")
        n = self.notice()
        end = self.notice("recovered", since=n["at"])
        self.assertEqual(["failed: TooManyRequestsException", "failed: Busy", "failed: Busy"], self.tell(n, n, end))
        self.now += 121
        self.assertEqual(["sent", "known"], self.tell(n, n))
        self.now += 121
        self.assertEqual(["sent"], self.tell(end))


if __name__ == "__main__":
    main()
