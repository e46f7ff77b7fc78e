"""Names that columns of personal data usually have.

A name is split into words. It looks personal when it ends in one of `PERSONAL`, apart from words that say nothing
(`email_raw`, `phone_1`) and unless a word before makes it something else (`has_email`, `avg_salary`). So
`customer_email` does, `email_count` and `phone_model` do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

PERSONAL = {
    "contact": """
        email; email address; e mail; mail address; phone; phone number; phone no; telephone; telephone number;
        mobile number; mobile phone; cell number; cell phone; fax number; msisdn""",
    "home": """
        home address; street address; postal address; mailing address; billing address; shipping address;
        delivery address; residential address; permanent address; address line; house number""",
    "name": """
        first name; last name; middle name; full name; given name; family name; maiden name; surname; forename;
        username; user login""",
    "trait": """
        birth date; date of birth; dob; birthday; birth place; place of birth; gender; ethnicity; religion;
        nationality; marital status; sexual orientation; political affiliation""",
    "number": """
        ssn; social security number; social security no; national id; national id number;
        national insurance number; tax id; tax number; passport; passport number; passport no; passport id;
        drivers license; driver license; driver license number; drivers license number; driving licence number;
        id card number; license plate; number plate; vin""",
    "money": """
        iban; bank account; bank account number; credit card; credit card number; card number; cc number; cvv;
        cvc; salary""",
    "health": """
        diagnosis; blood type; blood group; medical record number; mrn; health insurance number; disability""",
    "device": "ip address; ip addr; mac address; imei; password; passwd; password hash; security answer",
}
PEOPLE = """
    applicant beneficiary cardholder client contact customer driver employee guest member parent participant
    passenger patient payer person recipient sender student subscriber user"""
OF_PEOPLE = "name address ip"
ALONE = "address addr"
NEUTRAL = """
    raw clean cleaned normalized normalised lower upper lowercase value text txt str string hash hashed masked
    encrypted plain primary secondary original old new"""
OTHERWISE = """
    accept accepts allow allows avg be bounce bounced by can click clicked cnt consent count days deliver delivered
    enable enabled had has hide hours invalid is max mean median min minutes missing model n noreply nr num of open
    opened opt pct per percent percentage prefer prefers rate ratio receive received require required requires
    seconds send sent share show since sum support supports total until use uses valid via was were with without
    branch brand company corporate office server shop store supplier support vendor warehouse"""
WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


def phrases() -> Iterator[tuple[str, ...]]:
    """Every ending that is personal, as words."""
    for listed in PERSONAL.values():
        yield from (tuple(phrase.split()) for phrase in listed.split(";"))
    yield from ((who, what) for who in PEOPLE.split() for what in OF_PEOPLE.split())


ENDINGS = frozenset(ending for phrase in phrases() for ending in (phrase, ("".join(phrase),)))
LONGEST = max(map(len, ENDINGS))
_ALONE, _NEUTRAL, _OTHERWISE = (frozenset(text.split()) for text in (ALONE, NEUTRAL, OTHERWISE))


@lru_cache(maxsize=10_000)
def looks_personal(name: str) -> bool:
    """Whether a column of this name usually holds personal data."""
    words = [word.lower() for word in WORDS.findall(name)]
    while words and (words[-1] in _NEUTRAL or words[-1].isdigit()):
        words.pop()
    if len(words) == 1 and words[0] in _ALONE:
        return True
    for length in range(min(LONGEST, len(words)), 0, -1):
        if tuple(words[-length:]) in ENDINGS:
            return _OTHERWISE.isdisjoint(words[:-length])
    return False
