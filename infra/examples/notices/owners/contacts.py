"""Yours to fill in, where contacts are names of yours and not e-mail addresses."""


def address_of(contact: str, _tenant: str) -> str:
    """Returns the address behind a contact of a tenant, or nothing for none. What is no plain address gets no mail."""
    return contact
