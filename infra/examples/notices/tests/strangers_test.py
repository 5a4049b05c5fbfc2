"""Who gets no mail, and what is kept of those who do."""

from unittest import main, mock

from stage import DAY, Stage, mailer, os, refuses, rows, took


class Strangers(Stage):
    def test_whom_many_tenants_name_get_one_question_a_day_and_three_in_all(self) -> None:
        days = []
        for _ in range(5):
            for n in range(4):
                self.contact(f"victim+{n}@example.com", f"tenant-{n}", f"webhook_{n}")
                self.tell(self.notice(tenant_id=f"tenant-{n}", endpoint_id=f"webhook_{n}"))
            days.append(len(took))
            self.now += DAY
        self.assertEqual([1, 2, 3, 3, 3], days)
        self.assertTrue(all("tenant" not in str(one) and "hooks.example" not in str(one) for one in took))

    def test_cost_a_tenant_its_questions_and_nobody_elses(self) -> None:
        for n in range(8):
            self.contact(f"victim{n}@example.com", "mallory", f"webhook_{n}")
            self.tell(self.notice(tenant_id="mallory", endpoint_id=f"webhook_{n}"))
        self.assertEqual(5, len(took))
        self.contact("victim7@example.com", "acme")
        self.assertEqual(["asked"], self.tell(self.notice()))

    def test_leave_a_question_for_the_tenant_whom_they_know(self) -> None:
        for n in range(5):
            self.contact(f"ann+{n}@example.com", "mallory", f"webhook_{n}")
            self.tell(self.notice(tenant_id="mallory", endpoint_id=f"webhook_{n}"))
            self.now += DAY
        self.assertEqual(2, len(took))
        self.contact("ann@example.com")
        self.assertEqual(["asked"], self.tell(self.notice()))

    def test_leave_two_mails_for_those_whom_the_owner_wants(self) -> None:
        self.contact("ann@example.com", "mallory", "webhook_2")
        self.confirmed("ann@example.com")
        self.assertEqual(["asked", "sent", "sent", "limited"], self.tell(
            self.notice(tenant_id="mallory", endpoint_id="webhook_2"), *(self.notice() for _ in range(3))))


class Addresses(Stage):
    def test_of_any_other_form_get_nothing_and_are_in_no_log(self) -> None:
        hostile = [
            "ann", "", "ann@example.com,bob@example.com", "ann@example.com bob@example.com", "ann@example.com\n",
            "ann@example.com\r\nBcc: b@c.de", "Ann <ann@example.com>", '"a b"@example.com', "ann@[192.0.2.1]",
            "ann@localhost", "ann@exam ple.com", "ann@@example.com", "ann@bob@example.com", ".ann@example.com",
            "ann@-a.com", "ann@a..com", "änn@example.com", "ann@exämple.com", "ann@example.com;bob@example.com",
            "abuse@example.com", "@example.com", "ann%bob@", "a" * 65 + "@example.com", "ann@" + "a." * 126 + "com",
            "=?utf-8?q?x?=", "ann@192.0.2.1",
        ]
        os.environ["CONFIRM"] = "off"
        for contact in hostile:
            self.contact(contact)
            self.assertEqual(["no address"], self.tell(self.notice()), contact)
        self.contact("o'neil%x+y@Sub.Example.com")
        self.assertEqual(["sent"], self.tell(self.notice()))
        self.assertEqual(["o'neil%x+y@sub.example.com"], self.to())
        refuses.append("TooManyRequestsException")  # its text has the address
        self.hand_over(self.notice(), {"kind": "circuit_opened"}, "ann@example.com", None)
        self.assertNotIn("@", self.log.getvalue())
        self.assertNotIn("neil", self.log.getvalue())

    def test_behind_names_are_the_adopters_to_find(self) -> None:
        self.confirmed("ann@example.com")
        self.contact("team 7")
        known = {("team 7", "acme"): "ann@example.com", ("team 8", "acme"): "ann@example.com,bob@example.com"}
        with mock.patch.object(mailer, "address_of", lambda *of: known.get(of, "")):
            self.assertEqual(["sent"], self.tell(self.notice()))
            for contact in ("team 8", "team 9"):
                self.contact(contact)
                self.assertEqual(["no address"], self.tell(self.notice()))

    def test_are_not_in_the_table_and_every_row_expires(self) -> None:
        self.contact("ann@example.com")
        self.tell(self.notice(contact="ann@example.com"))
        self.assertNotIn("ann@", str(rows.scan()["Items"]))
        self.browse(self.link())
        self.tell(*self.queued(), self.notice("recovered", since="2026-11-28T21:30:00.001Z"))
        self.report("Complaint", "ann@example.com")
        kept = rows.scan()["Items"]
        self.assertGreater(len(kept), 6)
        for row in kept:
            self.assertNotRegex(str(row), "ann|bob|example|acme")
            self.assertTrue(self.now < row["expires_at"] <= self.now + 90 * DAY, row)

    def test_that_bounce_or_complain_are_left_alone_for_as_long_as_they_are_named(self) -> None:
        final, absent = {"bounceType": "Permanent"}, {"bounceType": "Transient"}
        for n, (kind, fields, want) in enumerate((
            ("Bounce", {"bounce": final}, "left alone"), ("Bounce", {"bounce": absent}, "sent"),
            ("Complaint", {"complaint": {}}, "left alone"), ("Delivery", {}, "sent"),
        )):
            endpoint, address = f"webhook_{n}", f"ann{n}@example.com"
            self.confirmed(address, "acme", endpoint)
            self.report(kind, address.replace("@", "+other@"), **fields)
            for _ in range(3):
                self.assertEqual([want], self.tell(self.notice(endpoint_id=endpoint)), kind)
                self.now += DAY
        self.now += 80 * DAY
        self.tell(self.notice(endpoint_id="webhook_0"))
        alone = [row["expires_at"] - self.now for row in rows.scan()["Items"] if "alone" in row]
        self.assertEqual([90 * DAY, 6 * DAY], sorted(map(int, alone), reverse=True))


if __name__ == "__main__":
    main()
