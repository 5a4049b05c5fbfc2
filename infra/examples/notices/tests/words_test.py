"""Mails in the adopter's words."""

import shutil
import tempfile
from pathlib import Path
from unittest import main

from stage import HERE, Stage, mailer, took
from words import KINDS, Words

MAILS = HERE.parent / "owners" / "mails"


class Files(Stage):
    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "mails"
        shutil.copytree(MAILS, self.folder)
        self.addCleanup(setattr, mailer.mailer, "words", mailer.mailer.words)
        self.confirmed("ann@example.com")

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def told(self, notice: dict[str, str]) -> dict[str, str]:
        mailer.mailer.words = Words(self.folder)
        self.assertEqual(["sent"], self.tell(notice))
        content = took[-1]["Content"]["Simple"]
        return {"subject": content["Subject"]["Data"]} | {k: v["Data"] for k, v in content["Body"].items()}

    def test_that_name_an_unknown_field_are_refused_before_a_mail_is_sent(self) -> None:
        for text, want in (
            ("Down\n\n$hots is down", r"circuit_opened: there is no \$hots"), ("$x\n\n", r"no \$x"),
            ("Costs $5\n", r"write \$\$"), ("\nDown", "the subject, is empty"),
        ):
            self.write("circuit_opened.txt", text)
            with self.assertRaisesRegex(ValueError, want):
                Words(self.folder)
        self.write("circuit_opened.txt", "Down\n")
        self.write("circuit_opened.html", "<p>$hots")
        with self.assertRaisesRegex(ValueError, r"no \$hots"):
            Words(self.folder)

    def test_name_what_a_notice_lacks_as_nothing(self) -> None:
        self.write("circuit_opened.txt", "Down\n\n[$status][$reason][$why][$since]")
        self.assertEqual("[][][][28 November 2026, 21:30 UTC]", self.told(self.notice())["Text"])

    def test_that_are_missing_have_a_kind_not_mailed(self) -> None:
        (self.folder / "paused.txt").unlink()
        mailer.mailer.words = Words(self.folder)
        self.assertEqual(["no words", "sent"], self.tell(self.notice("paused"), self.notice()))

    def test_are_there_for_every_kind(self) -> None:
        self.assertEqual(set(KINDS), set(Words(MAILS).of))

    def test_get_no_line_header_or_markup_from_a_tenant(self) -> None:
        self.write("circuit_opened.txt", "Down: $description\n\n$description.")
        self.write("circuit_opened.html", '<p title="$description">$description</p>')
        hostile = 'x\r\nBcc: bob@example.com\r\n\r\n<img src=x onerror="a">\u2028\u202e$stop_url ${host} \x1b[2J'
        flat = 'x Bcc: bob@example.com <img src=x onerror="a"> $stop_url ${host}  [2J'
        escaped = "x Bcc: bob@example.com &lt;img src=x onerror=&quot;a&quot;&gt; $stop_url ${host}  [2J"
        self.assertEqual(
            {"subject": f"Down: {flat}", "Text": f"{flat}.", "Html": f'<p title="{escaped}">{escaped}</p>'},
            self.told(self.notice(description=hostile)),
        )

    def test_say_each_reason(self) -> None:
        words = Words(MAILS)
        self.assertEqual("it did not answer in time", words.why({"reason": "timeout"}))
        self.assertEqual("something_new (status 200)", words.why({"reason": "something_new", "status": 200}))


if __name__ == "__main__":
    main()
