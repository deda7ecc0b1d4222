"""What secrets look like by themselves: detect-secrets' patterns, and shapes it does not have.

This is the build step's module: `collect` turns everything into plain data that the compiled table
stores, because importing detect-secrets costs more than a whole classification. Teaching `triage`
a new token is one line in rules/secrets.yaml.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from triage.pattern import needs

__all__ = ["collect"]

_BASE64_LINES = (
    r"(?:(?:\s|\\[nr])*+[A-Za-z0-9+/=]{16,}+)++"
    r"(?:(?:\r?\n|\\n)[A-Za-z0-9+/=]{1,64}(?=\r?\n|\\[nr]|[\"']|\Z))?"
)
# Read from its end, so that what stands before it is looked at last: the n of `\n` is no letter.
_RUN_BACK = r"(?<!\\)[A-Za-z0-9+/=]"
_NEWLINE = r"[ \t]{0,8}(?:\r?\n|(?:\\r)?\\n)[ \t]{0,8}"
# Cut off before its end: the lines that are nothing but key. Cut off before its beginning: the
# lines in front of its end, found from there (flag r), or lines that begin like a key inside.
_BODY = (
    r"(?:MII[A-Za-z0-9+/]{3}IBAAK[BC]|MII[A-Za-z0-9+/]{3}IBADANBgkqhkiG9w0BAQEFAASC"
    r"|MHcCAQEEI|MIGkAgEBBDA|MI(?:GHAgEAMBMG|GTAgEAMBMG|G2AgEAMBAG)ByqGSM49AgEG"
    r"|MC4CAQAwBQYDK2VwBCIEI|b3BlbnNzaC1rZXktdjE)[A-Za-z0-9+/=]{16,}"
)
_BODY_LITERALS = ("mii", "mhccaqeei", "migkagebbda", "byqgsm49ageg", "mc4caqawbqydk2vwbciei",
                  "b3blbnnzac1rzxktdje")  # fmt: skip
_BLOCKS = (
    (
        "m",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[^-]*+(?:-(?!----)[^-]*+)*+-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        rf"|(?:(?:\s|\\[nr])*+[A-Za-z-]{{4,20}}:[ ][^\n]{{1,80}}){{0,4}}{_BASE64_LINES})",
        (("private key", "private-lines"),),
    ),
    ("m", rf"Private-Lines: \d{{1,4}}{_BASE64_LINES}", (("private key", "private-lines"),)),
    (
        "mr",
        # A line of messages may have blanks for the ends of its lines.
        rf"(?:{_RUN_BACK}{{16,}}{_NEWLINE}|{_RUN_BACK}{{40,}}[ ])*"
        rf"(?:{_RUN_BACK}+{_NEWLINE}|{_RUN_BACK}{{4,}}[ ])"
        r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
        (("-----end ",), ("private key",)),
    ),
    (
        "m",
        rf"{_BODY}(?:{_BASE64_LINES})?",
        (_BODY_LITERALS,),
    ),
)

# How a detector's matches are masked: kind, group, edge (`border`: the token stands between
# borders; `grow`: what follows in the alphabet of tokens is masked too), least run of such.
_DETECTORS = {
    "ArtifactoryDetector": ("artifactory-token", 0, "as-is", 20),
    "AWSKeyDetector": ("aws-key", 1, "border", 0),
    "AzureStorageKeyDetector": ("azure-key", 0, "as-is", 0),
    "CloudantDetector": ("cloudant-key", 1, "as-is", 20),
    "DiscordBotTokenDetector": ("discord-token", 0, "border", 27),
    "GitHubTokenDetector": ("github-token", 0, "grow", 20),
    "GitLabTokenDetector": ("gitlab-token", 0, "grow", 20),
    "IbmCloudIamDetector": ("ibm-key", 1, "as-is", 20),
    "IbmCosHmacDetector": ("ibm-key", 1, "as-is", 20),
    "MailchimpDetector": ("mailchimp-key", 0, "border", 20),
    "OpenAIDetector": ("openai-key", 0, "grow", 20),
    "PypiTokenDetector": ("pypi-token", 0, "grow", 20),
    "SendGridDetector": ("sendgrid-key", 0, "grow", 20),
    "SlackDetector": ("slack-token", 0, "grow", 0),
    "SoftlayerDetector": ("softlayer-key", 1, "as-is", 20),
    "SquareOAuthDetector": ("square-token", 0, "grow", 20),
    "StripeDetector": ("stripe-key", 0, "grow", 20),
    "TelegramBotTokenDetector": ("telegram-token", 0, "border", 27),
    "TwilioKeyDetector": ("twilio-key", 0, "border", 20),
}
# Detectors whose pattern also fits long words: a digit tells them apart.
_WITH_DIGIT = frozenset({"ArtifactoryDetector", "OpenAIDetector"})
_NOT_USED = frozenset(
    {
        "BasicAuthDetector",  # `url-password` also takes passwords with reserved characters
        "HighEntropyStringsPlugin",  # hashes and identifiers are evidence
        "IPPublicDetector",  # an address is evidence, and no credential
        "JwtTokenDetector",  # stops before the signature; `jwt` takes all of it
        "NpmDetector",  # unbounded gaps; assignments and `npm-token` find the same
        "PrivateKeyDetector",  # finds the words of the header, `private-key` takes the block
    }
)
_GROW = "[A-Za-z0-9_-]*"
# The least run of token characters in a token, where nothing else is said.
_RUN = 20
_FLAGS = ((re.IGNORECASE, "i"), (re.DOTALL, "s"), (re.VERBOSE, "x"))


def collect(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return all shapes as JSON data, in the order in which they are to be applied.

    `data` is rules/secrets.yaml. Each shape is ``{"kind", "pattern", "flags", "group", "literals",
    "run", "digit", "base64_of", "token"}``. A text can match only if one of each group of
    `literals` stands in its lower-cased form (none known: []), and if it has `run` characters of
    ``[A-Za-z0-9_-]`` in a row; a match counts only if it is that long, has a digit where `digit` is
    set, and is base64 of a text with `base64_of` in it. A `token` is a secret by itself.
    """
    shapes = [
        _shape("private-key", source, flags=flags, literals=literals)
        for flags, source, literals in _BLOCKS
    ]
    shapes += [
        _shape(
            item["kind"],
            item["pattern"] + _GROW,
            literals=item.get("needs"),
            run=item.get("run", _RUN),
            digit=item.get("digit", False),
            token=True,
        )
        for item in data.get("tokens", ())
    ]
    shapes += [
        _shape(
            item["kind"],
            item["pattern"],
            group=item["group"],
            literals=item.get("needs"),
            digit=item.get("digit", False),
            base64_of=item.get("base64_of", ""),
        )
        for item in data.get("places", ())
    ]
    return shapes + _detect_secrets()


def _shape(
    kind: str,
    source: str,
    *,
    flags: str = "m",
    group: int = 0,
    run: int = 0,
    literals: Sequence[Sequence[str]] | None = None,
    digit: bool = False,
    base64_of: str = "",
    token: bool = False,
) -> dict[str, Any]:
    return {
        "kind": kind,
        "pattern": source,
        "flags": flags,
        "group": group,
        "literals": [list(clause) for clause in literals or needs(source).clauses],
        "run": run,
        "digit": digit,
        "base64_of": base64_of,
        "token": token,
    }


def _detect_secrets() -> list[dict[str, Any]]:
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.plugins.base import RegexBasedDetector

    shapes: list[dict[str, Any]] = []
    plugins: dict[str, Any] = dict(get_mapping_from_secret_type_to_class())
    for title, plugin in plugins.items():
        name = plugin.__name__
        if name in _NOT_USED or not issubclass(plugin, RegexBasedDetector):
            continue
        # A detector we have never seen is used as it is: its whole match is the secret.
        kind, group, edge, run = _DETECTORS.get(name, (_kind(title), 0, "as-is", 0))
        for compiled in plugin.denylist:
            source = f"(?:{compiled.pattern})"
            if edge == "grow":
                source += _GROW
            elif edge == "border":
                # Telegram's API has its token behind `/bot` in every address.
                source = f"(?:(?<![A-Za-z0-9_])|(?<=/bot)){source}(?![A-Za-z0-9_-])"
            flags = "m" + "".join(letter for bit, letter in _FLAGS if compiled.flags & bit)
            group = min(group, compiled.groups)
            shapes.append(
                _shape(
                    kind,
                    source,
                    flags=flags,
                    group=group,
                    run=run,
                    digit=name in _WITH_DIGIT,
                    token=edge == "grow",
                )
            )
    return shapes


def _kind(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40]
