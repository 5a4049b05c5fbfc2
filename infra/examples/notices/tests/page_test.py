"""The links of mails, and what an operator may erase."""

import base64
from unittest import main, mock

from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse
from stage import DAY, HERE, RESOURCES, Stage, calls, mailer, os, page, refuses, report, rows, took


class Links(Stage):
    def asked(self) -> str:
        self.contact("ann@example.com")
        self.assertEqual(["asked", "asked"], self.tell(self.notice(), self.notice()))
        self.assertEqual(1, len(took))
        return self.link()

    def test_confirm_by_a_button_once_and_bring_the_latest_notice(self) -> None:
        link = self.asked()
        for _ in range(3):  # a mail scanner
            status, shown = self.browse(link, "GET")
            self.assertEqual((200, True), (status, '<form method="post">' in shown))
        self.assertEqual(["asked"], self.tell(self.notice(endpoint_id="webhook_1")))
        self.assertEqual([200, 400, 400], [self.browse(link)[0] for _ in range(3)])
        waiting = self.queued()
        self.assertEqual(["webhook_1/circuit_opened/1795901400003"], [one["id"] for one in waiting])
        self.assertEqual(["sent", "sent"], self.tell(*waiting, self.notice()))

    def test_confirm_for_one_tenant_and_the_exact_address(self) -> None:
        self.browse(self.asked())
        self.contact("ann@example.com", "mallory", "webhook_2")
        self.contact("ann+x@example.com", "acme", "webhook_3")
        self.now += DAY
        self.assertEqual(["asked"], self.tell(self.notice(tenant_id="mallory", endpoint_id="webhook_2")))
        self.now += DAY
        self.assertEqual(["asked"], self.tell(self.notice(endpoint_id="webhook_3")))

    def test_expire_after_a_week_and_are_not_guessed(self) -> None:
        link = self.asked()
        end = {"Z": "Y"}.get(link[-1], "Z")
        both, bare = link + "&stop=" + "0" * 32, link.split("&token")[0]
        for wrong in (link[:-1] + end, link.replace("who=", "who=0"), both, bare, ""):
            self.assertEqual(400, self.browse(wrong)[0], wrong)
        self.now += 7 * DAY
        self.assertEqual(400, self.browse(link)[0])
        self.assertEqual(["asked"], self.tell(self.notice()))
        self.assertEqual((2, 200), (len(took), self.browse(self.link())[0]))
        self.now += 90 * DAY  # and so does a confirmation that nothing was sent by
        self.assertEqual(["asked"], self.tell(self.notice()))

    def test_of_a_process_that_died_are_no_answer_for_long(self) -> None:
        self.contact("ann@example.com")
        n = self.notice()
        dies = mock.patch.object(mailer.mailer, "send", side_effect=KeyboardInterrupt)
        with dies, self.assertRaises(KeyboardInterrupt):
            self.tell(n)
        self.now += DAY  # its mail may have gone out
        self.assertEqual(["asked"], self.tell(n))
        self.assertEqual(200, self.browse(self.link())[0])

    def test_keep_no_token_and_bring_nothing_that_is_over(self) -> None:
        link = self.asked()
        self.assertNotIn(link.split("token=")[1], str(rows.scan()["Items"]))
        ends = [self.notice("recovered", since=f"2026-11-28T21:30:00.00{n}Z") for n in (1, 2)]
        self.assertEqual(["nothing to end"] * 2, self.tell(*ends))
        self.browse(link)
        self.assertEqual(["known"], self.tell(*self.queued()))

    def test_bring_a_notice_that_has_its_contact_where_the_stack_cannot_read_it(self) -> None:
        os.environ["ENDPOINTS_TABLE"] = ""
        self.assertEqual(["asked"], self.tell(self.notice(contact="ann@example.com")))
        self.browse(self.link())
        self.assertEqual(["sent"], self.tell(*self.queued()))

    def test_answered_make_room_for_others(self) -> None:
        for n in range(6):
            self.contact(f"ann{n}@example.com", "acme", f"webhook_{n}")
            self.assertEqual(["asked"], self.tell(self.notice(endpoint_id=f"webhook_{n}")))
            self.browse(self.link())

    def test_stop_by_a_button_and_by_the_mail_program(self) -> None:
        self.confirmed("ann@example.com")
        self.tell(self.notice())
        headers = {one["Name"]: one["Value"] for one in took[0]["Content"]["Simple"]["Headers"]}
        link = self.link()
        one_click = {"List-Unsubscribe": f"<{link}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
        self.assertEqual(one_click, headers)
        self.assertEqual(400, self.browse(link.replace("stop=", "stop=0")[:-1])[0])
        self.assertEqual(200, self.browse(link, "GET")[0])
        self.assertEqual(["sent"], self.tell(self.notice()))
        self.assertEqual(200, self.browse(link, body="List-Unsubscribe=One-Click")[0])
        self.assertEqual(["stopped"], self.tell(self.notice()))
        self.confirmed("ann@example.com", "globex", "webhook_2")  # of another tenant they still come
        self.assertEqual(["sent"], self.tell(self.notice(tenant_id="globex", endpoint_id="webhook_2")))

    def test_take_nothing_else_from_a_request(self) -> None:
        link = self.asked()
        form = base64.b64encode(link.partition("?")[2].encode()).decode()
        event = {"body": form, "isBase64Encoded": True, "requestContext": {"http": {"method": "POST"}}}
        markup = "who=<script>&what=<script>&token=<script>"
        for query in (markup, "who=" + "a" * 100_000, "%00&who=%ff", "who[]=1&token=" + "x" * 43):
            status, shown = self.browse("?" + query, "GET")
            self.assertEqual((400, False), (status, "script" in shown))
        status, shown = self.browse(link + "&x=<script>", "GET")
        self.assertEqual((200, False), (status, "script" in shown))
        self.assertEqual(200, self.run_("page", page.handler, event)["statusCode"])


class Operators(Stage):
    def test_erase_an_address_in_all_its_spellings(self) -> None:
        self.contact("ann@example.com")
        self.tell(self.notice())
        self.confirmed("ann+x@example.com", "globex", "webhook_2")
        self.confirmed("bob@example.com", "globex", "webhook_3")
        self.report("Complaint", "ann@example.com")
        gone = self.run_("report", report.handler, {"erase": "Ann@example.com"})
        who = mailer.mailer.names.mailbox("ann@example.com")
        left = [row for row in rows.scan()["Items"] if row["who"] == who]
        self.assertEqual((5, [], 1), (gone["rows"], left, sum("owner#" in row["what"] for row in rows.scan()["Items"])))

    def test_have_an_address_left_alone(self) -> None:
        self.confirmed("ann@example.com")
        self.run_("report", report.handler, {"leave_alone": "ann@example.com"})
        self.assertEqual(["left alone"], self.tell(self.notice()))
        for event in ({"erase": "ann"}, {"leave_alone": ""}):
            with self.assertRaisesRegex(ValueError, "no address"):
                self.run_("report", report.handler, event)


class Rights(Stage):
    def test_of_each_function_are_its_calls(self) -> None:
        self.contact("ann@example.com")
        refuses.append("MessageRejected")
        self.tell(self.notice())
        self.tell(self.notice())
        self.browse(self.link())
        self.tell(*self.queued())
        self.run_("report", report.handler, {"erase": "ann@example.com"})
        self.report("Complaint", "ann@example.com")
        for name in calls:
            policies = RESOURCES[f"{name.capitalize()}Function"]["Properties"]["Policies"]
            allowed = {action for s in policies[-1]["Statement"] for action in listed(s["Action"])}
            self.assertEqual(allowed, {right(call) for call in calls[name]}, name)


    def test_name_actions_and_resources_one_by_one(self) -> None:
        """AWS's translator makes the roles. The mailer's alone may read contacts."""
        for reader in ("", "arn:aws:iam::111122223333:policy/readers"):
            text = yaml_parse((HERE.parent / "owners.yaml").read_text())
            given = {"Bus": "b", "Sender": "a@b.de", "Identity": "b.de", "ContactReaders": reader}
            for each in text["Resources"].values():
                if each["Type"] == "AWS::Serverless::Function":
                    each["Properties"]["InlineCode"] = "none"
            made = Translator({}, Parser()).translate(text, parameter_values=given)["Resources"]
            roles = {name: one["Properties"] for name, one in made.items() if one["Type"] == "AWS::IAM::Role"}
            self.assertEqual({f"{name.capitalize()}FunctionRole" for name in calls}, set(roles))
            for name, role in roles.items():
                self.assertNotRegex(str(role["Policies"]), r"\*'")
                managed = str(role["ManagedPolicyArns"])
                self.assertEqual(name == "MailerFunctionRole", "ReadsContacts" in managed, managed)


def listed(actions: object) -> list[str]:
    return actions if isinstance(actions, list) else [str(actions)]


def right(call: str) -> str:
    service, action = call.split()
    return f"{service.removesuffix('v2')}:{action}"


if __name__ == "__main__":
    main()
