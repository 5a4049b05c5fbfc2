"""Which contacts are e-mail addresses, and the names under which the table keeps them.

The table has no address and no tenant, but their HMACs under a key that only the functions may read.
"""

import hashlib
import hmac
import re

ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
LABEL = r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)"
ADDRESS = re.compile(rf"{ATOM}(?:\.{ATOM})*@(?:{LABEL}\.)+(?=[A-Za-z]){LABEL}")
ROLES = {"abuse", "hostmaster", "mailer-daemon", "postmaster"}  # whoever reads these did not ask for mails


def checked(text: str) -> str:
    """Returns a text that is one plain address, and nothing for lists, quotes, line feeds and other alphabets."""
    if len(text) > 254 or not ADDRESS.fullmatch(text):
        return ""
    local, domain = text.split("@")
    return "" if len(local) > 64 or local.lower() in ROLES else f"{local}@{domain.lower()}"


def mailbox(address: str) -> str:
    """Returns the mailbox behind an address, for its limits: ann+1@ and ANN@ are ann@.

    Where they are three mailboxes, these share their limits. A confirmation counts for the exact address instead: it
    must not open the mailbox of somebody else.
    """
    local, domain = address.lower().split("@")
    local = local.split("+")[0] or local
    if domain in ("gmail.com", "googlemail.com"):
        local, domain = local.replace(".", ""), "gmail.com"
    return f"{local}@{domain}"


class Names:
    """The names that stand for addresses and tenants in the table and in links."""

    def __init__(self, key: bytes) -> None:
        self.key = key

    def of(self, kind: str, *parts: str) -> str:
        text = "\0".join((kind, *parts))
        return hmac.new(self.key, text.encode(), hashlib.sha256).hexdigest()[:32]

    def mailbox(self, address: str) -> str:
        return "mailbox#" + self.of("mailbox", mailbox(address))

    def owner(self, tenant: str, address: str) -> str:
        return "owner#" + self.of("owner", tenant, address)

    def tenant(self, tenant: str) -> str:
        return "tenant#" + self.of("tenant", tenant)

    def stop(self, who: str, what: str) -> str:
        """The proof in a mail's link that its reader got the mail."""
        return self.of("stop", who, what)
