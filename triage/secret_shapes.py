"""What secrets look like by themselves: detect-secrets' patterns, and shapes it does not have.

This is the build step's module: `collect` turns everything into plain data that the compiled table
stores, because importing detect-secrets costs more than a whole classification. Teaching `triage`
a new token is one line in `_TOKENS`.
"""

from __future__ import annotations

import re
from typing import Any

from triage.pattern import needs

__all__ = ["collect"]

# kind, pattern of the whole token. A token may grow: what follows in its own alphabet goes too.
_TOKENS = (
    ("age-key", r"AGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    ("airtable-token", r"\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    ("anthropic-key", r"sk-ant-[A-Za-z0-9_-]{20,}"),
    ("artifactory-token", r"\bAKC[A-Za-z0-9]{40,}"),
    ("atlassian-token", r"AT[AC]TT3[A-Za-z0-9_=-]{40,}"),
    ("azure-secret", r"\b[A-Za-z0-9_.~]{3}8Q~[A-Za-z0-9_.~-]{31,40}"),
    ("buildkite-token", r"bkua_[a-f0-9]{40}"),
    ("circleci-token", r"CCIPAT_[A-Za-z0-9]{20,}_[a-f0-9]{40}"),
    ("databricks-token", r"\bdapi[a-f0-9]{32}"),
    ("digitalocean-token", r"do[opr]_v1_[a-f0-9]{64}"),
    ("docker-token", r"dckr_[a-z]{3}_[A-Za-z0-9_-]{20,}"),
    ("figma-token", r"figd_[A-Za-z0-9_-]{20,}"),
    ("fly-token", r"\bfm[12]_[A-Za-z0-9+/=]{40,}"),
    ("github-token", r"github_pat_[A-Za-z0-9_]{22,}"),
    ("gitlab-token", r"gl(?:pat|dt|rtr?|wt)-[A-Za-z0-9_-]{20,}(?:\.[0-9a-z]{2}\.[0-9a-z]{7,9})?"),
    ("google-key", r"AIza[A-Za-z0-9_-]{35}"),
    ("google-secret", r"GOCSPX-[A-Za-z0-9_-]{20,}"),
    ("google-token", r"ya29\.[A-Za-z0-9_-]{20,}"),
    ("google-token", r"\b1//0[A-Za-z0-9_-]{40,}"),
    ("grafana-token", r"gl(?:sa|c)_[A-Za-z0-9+/=]{32,}(?:_[a-f0-9]{8})?"),
    ("groq-key", r"\bgsk_[A-Za-z0-9]{40,}"),
    ("huggingface-token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("linear-key", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    ("mailgun-key", r"\bkey-[a-f0-9]{32}\b"),
    ("netlify-token", r"\bnfp_[A-Za-z0-9]{36,}"),
    ("newrelic-key", r"NRAK-[A-Z0-9]{27}"),
    ("notion-token", r"\b(?:ntn_|secret_)[A-Za-z0-9]{43,}"),
    ("npm-token", r"\bnpm_[A-Za-z0-9]{36,}"),
    ("nvidia-key", r"nvapi-[A-Za-z0-9_-]{40,}"),
    ("onepassword-token", r"\bops_eyJ[A-Za-z0-9_=-]{60,}"),
    ("openai-key", r"\bsk-(?:[a-z0-9]{2,12}-){0,3}[A-Za-z0-9_]{20,}"),
    ("perplexity-key", r"pplx-[A-Za-z0-9]{32,}"),
    ("postman-key", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    ("pulumi-token", r"\bpul-[a-f0-9]{40}"),
    ("pypi-token", r"\bpypi-[A-Za-z0-9_-]{50,}"),
    ("replicate-token", r"\br8_[A-Za-z0-9]{37}"),
    ("rubygems-key", r"rubygems_[a-f0-9]{48}"),
    ("sentry-token", r"sntry[su]_[A-Za-z0-9_=+/-]{40,}"),
    ("shopify-token", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    ("slack-token", r"xox[a-z]{1,2}(?:\.xox[a-z])?-[A-Za-z0-9-]{10,}"),
    ("slack-token", r"xapp-\d-[A-Z0-9]{8,}-\d{8,}-[a-f0-9]{32,}"),
    ("square-token", r"\bsq0[a-z]{3}-[A-Za-z0-9_-]{22,}"),
    ("stripe-key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("stripe-secret", r"whsec_[A-Za-z0-9+/=]{24,}"),
    ("supabase-key", r"\bsb(?:p|_secret)_[A-Za-z0-9_-]{20,}"),
    ("tailscale-key", r"tskey-[a-z]{3,10}-[A-Za-z0-9-]{20,}"),
    ("terraform-token", r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}"),
    ("vault-token", r"\bhv[bsr]\.[A-Za-z0-9_-]{24,}"),
    ("xai-key", r"\bxai-[A-Za-z0-9]{60,}"),
    ("jwt", r"\beyJ[A-Za-z0-9_=-]{8,}\.{1,2}[A-Za-z0-9_=-]{4,}(?:\.{1,2}[A-Za-z0-9_=+/-]+)*"),
    ("webhook", r"(?i)discord(?:app)?\.com/api/webhooks/\d{5,}/[A-Za-z0-9_-]{20,}"),
)  # fmt: skip

# kind, pattern, group of the secret part. Gaps are bounded, so that time is linear.
_PLACES = (
    ("url-password", r"://[^\s/?#@:\"'<>\\\[]{0,256}:([^\s/\"'<>\\]{1,512})@(?=[\w\[])", 1),
    ("url-token", r"://([A-Za-z0-9_-]{0,200}\d[A-Za-z0-9_-]{19,200})@(?=[\w\[])", 1),
    ("signature", r"(?i)[?&](?:sig|signature|x-(?:amz|goog)-signature)=([\w%+/=-]{16,4096})", 1),
    ("bearer", r"(?i)\bbearer[ \t]{1,4}([A-Za-z0-9._~+/=-]{12,})", 1),
    (
        "cookie",
        r"(?i)\bcookie2?(?:\\{0,3}[\"'])?[ \t]{0,4}[:=][ \t]{0,4}(?:\\{0,3}[\"'])?"
        r"([^\s=;,\"'\\]{1,128}=[^\r\n\"'\\]+)",
        1,
    ),
    ("password-hash", r"(?<![\w$])\$(?:2[abxy]\$\d\d"
                      r"|(?:1|5|6|y|argon2id?)(?:\$[\w=,./]{1,40}){1,3})"
                      r"\$?[./A-Za-z0-9+]{22,}", 0),
    ("password", r"\blogin[ \t]{1,8}[^\s]{1,128}[ \t]{1,8}password[ \t]{1,8}([^\s]{1,256})", 1),
    ("password", r"\bcurl\b[^\n]{0,400}?[ ](?:-u|-U|--user|--proxy-user)[ =]?[\"']?"
                 r"[^\s:\"'/]{1,128}:([^\s\"']{1,256})", 1),
    ("password", r"\bmysql(?:dump|admin|import)?\b[^\n]{0,200}?[ ]-p([^\s\"'|;&]{2,256})", 1),
    ("password", r"\bsshpass[ ]{1,4}-p[ ]{0,4}[\"']?([^\s\"']{1,256})", 1),
    ("password", r"\bredis-cli\b[^\n]{0,200}?[ ](?:-a|--pass)[ ]{1,4}[\"']?([^\s\"']{1,256})", 1),
    ("password", r"(?i)[ ]-pass(?:in|out)?[ ]{1,4}pass:([^\s\"']{1,256})", 1),
)  # fmt: skip

# Where the literals that can be derived from a pattern stand in every second text.
_LITERALS: dict[str, tuple[tuple[str, ...], ...]] = {
    "fly-token": (("fm1_", "fm2_"),),
    "grafana-token": (("glsa_", "glc_"),),
    "password-hash": (("$1$", "$2a$", "$2b$", "$2x$", "$2y$", "$5$", "$6$", "$y$", "$argon2"),),
    "private-key": (("private key", "private-lines"),),
    "signature": (("sig=", "signature="),),
    "supabase-key": (("sbp_", "sb_secret_"),),
    "url-password": (("://",), ("@",)),
    "url-token": (("://",), ("@",)),
    "vault-token": (("hvs.", "hvb.", "hvr."),),
}
# The least run of token characters in a token; 20 where nothing is said.
_RUNS = {
    "azure-secret": 0,
    "fly-token": 0,
    "grafana-token": 0,
    "jwt": 0,
    "sentry-token": 0,
    "slack-token": 0,
    "stripe-secret": 0,
}

_BASE64_LINES = (
    r"(?:(?:\s|\\[nr])*+[A-Za-z0-9+/=]{16,}+)++"
    r"(?:(?:\r?\n|\\n)[A-Za-z0-9+/=]{1,64}(?=\r?\n|\\[nr]|[\"']|\Z))?"
)
_BLOCKS = (
    (
        "private-key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[^-]*+(?:-(?!----)[^-]*+)*+-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        # Cut off before its end: the lines that are nothing but key.
        rf"|(?:(?:\s|\\[nr])*+[A-Za-z-]{{4,20}}:[ ][^\n]{{1,80}}){{0,4}}{_BASE64_LINES})",
    ),
    ("private-key", rf"Private-Lines: \d{{1,4}}{_BASE64_LINES}"),
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
# Kinds whose pattern also fits long words: a digit tells them apart.
_WITH_DIGIT = frozenset({"artifactory-token", "bearer", "openai-key"})
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
_FLAGS = ((re.IGNORECASE, "i"), (re.DOTALL, "s"), (re.VERBOSE, "x"))


def collect() -> list[dict[str, Any]]:
    """Return all shapes as JSON data, in the order in which they are to be applied.

    Each is ``{"kind", "pattern", "flags", "group", "literals", "run", "digit"}``. A text can match
    only if one of each group of `literals` stands in its lower-cased form (none known: []), and if
    it has `run` characters of ``[A-Za-z0-9_-]`` in a row; a match counts only if it is that long,
    and has a digit where `digit` is set.
    """
    shapes = [_shape(kind, source) for kind, source in _BLOCKS]
    shapes += [_shape(kind, source + _GROW, run=_RUNS.get(kind, 20)) for kind, source in _TOKENS]
    shapes += [_shape(kind, source, group=group) for kind, source, group in _PLACES]
    return shapes + _detect_secrets()


def _shape(
    kind: str, source: str, *, flags: str = "m", group: int = 0, run: int = 0
) -> dict[str, Any]:
    literals = _LITERALS.get(kind) or needs(source).clauses
    return {
        "kind": kind,
        "pattern": source,
        "flags": flags,
        "group": group,
        "literals": [list(clause) for clause in literals],
        "run": run,
        "digit": kind in _WITH_DIGIT,
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
            shapes.append(_shape(kind, source, flags=flags, group=group, run=run))
    return shapes


def _kind(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40]
