"""The mails' words: a file for each kind of notice in the folder mails. Without its file, a kind is not mailed.

The first line is the subject. $names stand for what is known; an .html file beside it makes a second form of the mail.
Run `python3 words.py` before you deploy: it names what is wrong with the files, and so do the functions, which then
send nothing and leave notices on their queue.
"""

import html
import json
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from string import Template
from typing import Any

KINDS = ("circuit_opened", "recovered", "paused", "resumed", "dead_letter")
NOTICE = {
    "host", "description", "tenant_id", "endpoint_id", "at", "since", "why", "reason", "status", "kept_until",
    "answer_seconds", "stop_url",
}
CONFIRM = {"confirm_url", "days"}
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")

Fields = dict[str, str]


class Mail:
    """The words of one kind of mail."""

    def __init__(self, file: Path, fields: set[str]) -> None:
        subject, _, text = file.read_text("utf-8").partition("\n")
        page = file.with_suffix(".html")
        self.subject, self.text = Template(subject), Template(text.lstrip("\n"))
        self.page = Template(page.read_text("utf-8")) if page.exists() else None
        for template in (self.subject, self.text, self.page):
            if template and not template.is_valid():
                raise ValueError(f"{file.stem}: a $ has no name behind it; write $$ for a dollar")
            if template and (unknown := set(template.get_identifiers()) - fields):
                raise ValueError(f"{file.stem}: there is no ${', $'.join(sorted(unknown))}")
        if not subject.strip():
            raise ValueError(f"{file.stem}: the first line, the subject, is empty")

    def filled(self, fields: Fields) -> dict[str, Any]:
        """Returns the content of a mail as SES takes it. No field makes a line, a header or markup."""
        fields = {name: UNSEEN.sub(" ", value)[:500] for name, value in fields.items()}
        body = {"Text": part(self.text.substitute(fields))}
        if self.page:
            body["Html"] = part(self.page.substitute({name: html.escape(value) for name, value in fields.items()}))
        return {"Subject": part(UNSEEN.sub(" ", self.subject.substitute(fields)).strip()[:200]), "Body": body}


def part(text: str) -> dict[str, str]:
    return {"Data": text, "Charset": "UTF-8"}


class Words:
    """All mails of a folder."""

    def __init__(self, folder: Path) -> None:
        self.confirm = Mail(folder / "confirm.txt", CONFIRM)
        self.of = {k: Mail(folder / f"{k}.txt", NOTICE) for k in KINDS if (folder / f"{k}.txt").exists()}
        self.reasons: Fields = json.loads((folder / "reasons.json").read_text("utf-8"))

    def why(self, notice: dict[str, Any]) -> str:
        """Says why deliveries fail, in the words of reasons.json."""
        reason, status = notice.get("reason", ""), notice.get("status")
        why = self.reasons.get(reason, reason)
        return f"{why} (status {status})" if status else why


def told(when: str) -> str:
    return f"{datetime.fromisoformat(when).astimezone(UTC):%d %B %Y, %H:%M} UTC" if when else ""


def fields(words: Words, notice: dict[str, Any], kept_days: int, answer_seconds: str, stop_url: str) -> Fields:
    """Returns what the words of a notice may name. What a notice has not is empty."""
    begun = notice.get("since") or notice["at"]
    until = datetime.fromisoformat(begun) + timedelta(days=kept_days)
    text = {name: str(notice.get(name, "")) for name in NOTICE}
    return text | {
        "at": told(notice["at"]), "since": told(begun), "why": words.why(notice), "kept_until": told(until.isoformat()),
        "answer_seconds": answer_seconds, "stop_url": stop_url,
    }


if __name__ == "__main__":
    try:
        Words(Path(__file__).parent / "mails")
    except (OSError, ValueError) as error:
        sys.exit(str(error))
