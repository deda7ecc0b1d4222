"""Secrets are masked, everything else stays; each fake token is built here, none is written out."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from triage import redact, secret_patterns
from triage.redact import export_patterns, load_patterns, mask, mask_argv, mask_data

DATA = yaml.safe_load((Path(__file__).parent.parent / "rules/secrets.yaml").read_text("utf-8"))
PATTERNS = export_patterns(DATA)


@pytest.fixture(autouse=True)
def loaded() -> Iterator[None]:
    load_patterns(PATTERNS)
    yield
    load_patterns(PATTERNS)


def fake(length: int, alphabet: str = "a1B2c3D4e5F6g7H8") -> str:
    return (alphabet * (length // len(alphabet) + 1))[:length]


def low(length: int) -> str:
    return fake(length, "a1b2c3d4e5f6")


def up(length: int) -> str:
    return fake(length, "A2B3C4D5")


JWT = ".".join(("eyJ" + fake(30), "eyJ" + fake(40), fake(43)))
PEM = "\n".join(
    [
        "-----BEGIN RSA PRIVATE " + "KEY-----",
        fake(64),
        fake(64),
        fake(20) + "==",
        "-----END RSA PRIVATE " + "KEY-----",
    ]
)

# What a secret looks like by itself.
TOKENS = {
    "age": "AGE-SECRET-" + "KEY-1" + up(58),
    "airtable": "pat" + fake(14) + "." + low(64),
    "anthropic": "sk-" + "ant-api03-" + fake(90),
    "artifactory": "AKC" + fake(70),
    "atlassian": "ATATT3" + fake(180),
    "aws-access": "AKIA" + up(16),
    "aws-session": "ASIA" + up(16),
    "azure-client": fake(3) + "8Q~" + fake(34),
    "azure-storage": "AccountKey=" + fake(86) + "==",
    "buildkite": "bkua_" + low(40),
    "circleci": "CCIPAT_" + fake(22) + "_" + low(40),
    "databricks": "dapi" + low(32),
    "digitalocean": "dop_" + "v1_" + low(64),
    "discord": "M" + fake(23) + "." + fake(6) + "." + fake(27),
    "discord-hook": "https://discord.com/api/" + "webhooks/123456789012345678/" + fake(68),
    "docker": "dckr_" + "pat_" + fake(27),
    "figma": "figd_" + fake(40),
    "fly": "fm2_" + fake(100),
    "github-app": "ghs_" + fake(36),
    "github-classic": "ghp_" + fake(36),
    "github-fine": "github_" + "pat_" + fake(22) + "_" + fake(59),
    "github-oauth": "gho_" + fake(36),
    "gitlab": "glpat-" + fake(20),
    "gitlab-deploy": "gldt-" + fake(20),
    "gitlab-routable": "glpat-" + fake(27) + ".01." + low(9),
    "gitlab-runner": "GR1348941" + fake(20),
    "google": "AIza" + fake(35),
    "google-oauth": "ya29." + fake(60),
    "google-refresh": "1//0" + fake(60),
    "google-secret": "GOCSPX-" + fake(28),
    "grafana": "glsa_" + fake(32) + "_" + low(8),
    "groq": "gsk_" + fake(52),
    "huggingface": "hf_" + fake(34, "abcdefGHIJKL"),
    "jwt": JWT,
    "linear": "lin_" + "api_" + fake(40),
    "mailchimp": low(32) + "-us12",
    "mailgun": "key-" + low(32),
    "netlify": "nfp_" + fake(36),
    "newrelic": "NRAK-" + up(27),
    "notion": "ntn_" + fake(46),
    "npm": "npm_" + fake(36),
    "nvidia": "nvapi-" + fake(64),
    "openai": "sk-" + fake(48),
    "openai-project": "sk-" + "proj-" + fake(20) + "T3Blbk" + "FJ" + fake(20),
    "password-hash": "$6$" + fake(16) + "$" + fake(86),
    "password-hash-bcrypt": "$2b$" + "12$" + fake(53),
    "perplexity": "pplx-" + fake(48),
    "postman": "PMAK-" + low(24) + "-" + low(34),
    "private-key": PEM,
    "pulumi": "pul-" + low(40),
    "pypi": "pypi-" + "AgEIcHlwaS5vcmc" + fake(80),
    "replicate": "r8_" + fake(37),
    "rubygems": "rubygems_" + low(48),
    "sendgrid": "SG." + fake(22) + "." + fake(43),
    "sentry": "sntrys_" + fake(80),
    "shopify": "shpat_" + low(32),
    "slack-app": "xapp-" + "1-" + up(11) + "-1234567890123-" + low(64),
    "slack-bot": "xoxb-" + "123456789012-123456789012-" + fake(24),
    "slack-hook": "https://hooks.slack.com/" + "services/T" + up(8) + "/B" + up(8) + "/" + fake(24),
    "square": "sq0csp-" + fake(43),
    "stripe-live": "sk_" + "live_" + fake(24),
    "stripe-restricted": "rk_" + "test_" + fake(24),
    "stripe-webhook": "whsec_" + fake(32),
    "supabase": "sbp_" + low(40),
    "tailscale": "tskey-" + "auth-" + fake(12) + "-" + fake(32),
    "telegram": "1234567890:" + fake(35),
    "terraform": fake(14) + ".atlasv1." + fake(67),
    "twilio": "SK" + low(32),
    "vault": "hvs." + fake(90),
    "xai": "xai-" + fake(80),
}

# What makes any value a secret: its place. {} is the secret.
PLACES = [
    "password: {}",
    "Password = {}",
    "DB_PASSWORD={} ./run",
    "export GITHUB_TOKEN={}",
    "PGPASSWORD={} psql -h db",
    "api_key={}",
    "X-Api-Key: {}",
    "Authorization: Bearer {}",
    "authorization: Basic {}",
    '-H "Authorization: token {}"',
    "Proxy-Authorization: Basic {}",
    "Cookie: session={}",
    "< set-cookie: sid={}",
    '{{"access_token": "{}", "token_type": "bearer"}}',
    '{{"clientSecret":"{}"}}',
    "{{'password': '{}'}}",
    '"{{\\"refresh_token\\":\\"{}\\"}}"',
    "os.environ['API_TOKEN'] = '{}'",
    "tool login --token {}",
    "tool login --token={} --yes",
    "tool --db-password '{}' run",
    "tool -password {} run",
    "curl -u admin:{} https://example.com",
    "mysql -u root -p{} db",
    "sshpass -p {} ssh host",
    "redis-cli -a {} ping",
    "openssl rsa -passin pass:{}",
    "machine example.com login bob password {}",
    "https://bob:{}@example.com/x.git",
    "postgres://app:{}@db:5432/app",
    "Server=db;User Id=sa;Password={};Encrypt=true",
    "Endpoint=sb://x/;SharedAccessKey={}",
    "//registry.npmjs.org/:_authToken={}",
    "https://x.blob.core.windows.net/c?sv=2022&sig={}",
    "https://x.s3.amazonaws.com/k?X-Amz-Signature={}&X-Amz-Expires=60",
    "https://api.example.com/v1?access_token={}&page=2",
    "aws_secret_access_key = {}",
    "Invalid API key: {}",
]

ORDINARY = [
    "commit 3f786850e387550fdab836ed7e6dc881de23001b (HEAD -> main)",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "request id 550e8400-e29b-41d4-a716-446655440000",
    "/usr/lib/python3.11/site-packages/some_package/__init__.py:12: error",
    "node_modules/.pnpm/eslint-plugin-import@2.29.1_eslint@8.56.0/node_modules/x",
    "token expired",
    "error: token is invalid or expired; run `tool login`",
    "password incorrect",
    "Enter password: ",
    "Password for 'https://bob@github.com': ",
    "bob@host's password: ",
    "sudo: a password is required",
    "usage: tool --token <TOKEN> [--password PASSWORD]",
    "  --token string      Bearer token for authentication",
    "  --api-key API_KEY   the key (env: TOOL_API_KEY)",
    "error: the following arguments are required: --token, --password",
    "unknown option --password",
    "gh auth login --with-token < file.txt",
    "docker login --password-stdin",
    "SyntaxError: Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON",
    "Parse error: unexpected token: identifier1",
    "Authorization: required",
    "secret: not found",
    "api_key: Field required",
    "password: must be at least 8 characters",
    '{"password": ["This field is required."]}',
    '{"errors": {"password": "is too short", "token": "has expired"}}',
    '{"nextPageToken": "CAESBgoEb3JkZXI1", "items": []}',
    '{"next_page_token": "abc123def456"}',
    '{"usage": {"max_tokens": 4096, "total_tokens": "1234567"}}',
    '{"token_type": "bearer", "expires_in": 3600}',
    "    password = getpass.getpass()",
    "    return connect(user=user, password=password, token=token)",
    "    self.token = self.config.token",
    "    const apiKey = process.env.API_KEY;",
    "  token: string;",
    "def login(user: str, password: str) -> None:",
    "PASSWORD=$DB_PASSWORD ./run",
    "curl -H 'Authorization: Bearer ${TOKEN}' https://example.com",
    "https://bob:****@example.com/x.git",
    "https://user:xxxxx@proxy.example.com",
    "https://git@github.com/owner/repo.git",
    "git@github.com:owner/repo.git",
    "ssh://git@example.com:22/x",
    "private_key: /home/bob/.ssh/id_ed25519",
    "--private-key ./certs/server.key --token-file token.txt",
    "GIT_ASKPASS=true SSH_ASKPASS=true GIT_TERMINAL_PROMPT=0 PIP_NO_INPUT=1 npm_config_yes=true",
    "PWD=/home/bob OLDPWD=/tmp SSH_AUTH_SOCK=/tmp/ssh-x/agent.1",
    "-----BEGIN CERTIFICATE-----",
    "expected a line that starts with -----BEGIN RSA PRIVATE " + "KEY-----, got nothing",
    "tests: pass=31 fail=2 skip=0",
    "docker run --user 1000:1000 image",
    "ls -p /tmp | curl -u",
    "at scala.Server$$anonfun$doSession$1$$anonfun$apply$1.apply(Server.scala:74)",
    "disk-usage-of-the-whole-machine sk-learn task-runner-with-a-long-name",
    "credentials: include, mode: same-origin",
    "KeyError: 'token'",
    "12:00:01 ERROR [auth] login failed for bob",
]


@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS)
def test_a_token_is_masked_wherever_it_stands(token: str) -> None:
    for text in ("{}", "got {} from the server", '"{}"', "value={}\n", "line\n{}\nline", "<{}>"):
        masked = mask(text.replace("{}", token))
        assert token not in masked
        # Nothing of it is left but what says which kind it was.
        rest = masked.replace("[masked:", "")
        assert not any(token[at : at + 12] in rest for at in range(12, len(token) - 12))
        assert "[masked:" in masked
        assert mask(masked) == masked


@pytest.mark.parametrize("place", PLACES)
def test_a_value_is_masked_where_its_place_makes_it_a_secret(place: str) -> None:
    secret = "Zq4" + fake(17)
    before, _, after = place.replace("{{", "{").replace("}}", "}").partition("{}")
    masked = mask(before + secret + after)
    assert secret not in masked
    assert masked.startswith(before[:8])
    assert mask(masked) == masked


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays_the_same_object(text: str) -> None:
    assert mask(text) is text


def test_the_text_around_a_secret_stays() -> None:
    secret = "s3" + "cret"
    assert mask(f"cannot reach https://bob:{secret}@example.com/x (HTTP 401)") == (
        "cannot reach https://bob:[masked:url-password]@example.com/x (HTTP 401)"
    )
    assert mask(f"Authorization: Basic {fake(20)}\nHost: x") == (
        "Authorization: Basic [masked:authorization]\nHost: x"
    )


def test_a_short_and_weak_password_is_still_a_password() -> None:
    word = "pass" + "word"
    assert mask(f"{word}: hunter\n") == f"{word}: [masked:password]\n"
    assert mask(f"PG{word.upper()}=right psql") == f"PG{word.upper()}=[masked:password] psql"
    assert mask(f"RESTIC_{word.upper()}={word} restic") == (
        f"RESTIC_{word.upper()}=[masked:password] restic"
    )


def test_json_stays_json() -> None:
    data = {"user": "bob", "password": 'a"b\\c d', "auth": {"token": fake(30), "ok": False}}
    masked = json.loads(mask(json.dumps(data)))
    assert masked["user"] == "bob"
    assert masked["password"] == "[masked:password]"
    assert masked["auth"] == {"token": "[masked:token]", "ok": False}


def test_a_key_cut_off_before_its_end_is_masked_as_far_as_it_goes() -> None:
    cut = "\n".join(PEM.split("\n")[:3])
    assert mask(f"before\n{cut}\n\nnot a key any more: error") == (
        "before\n[masked:private-key]\n\nnot a key any more: error"
    )
    one_line = PEM.replace("\n", "\\n")
    assert mask(f'{{"private_key": "{one_line}"}}') == '{"private_key": "[masked:private-key]"}'


def test_arguments_are_masked_by_their_neighbours() -> None:
    value = fake(9)
    assert mask_argv(["tool", "--token", value, "--yes"]) == [
        "tool", "--token", "[masked:token]", "--yes",
    ]  # fmt: skip
    assert mask_argv(["/usr/bin/curl", "-s", "-u", f"bob:{value}", "https://x"])[3] == (
        "bob:[masked:password]"
    )
    assert mask_argv(["mysql", f"-p{value}"]) == ["mysql", "-p[masked:password]"]
    assert mask_argv(["sshpass", "-p", value, "ssh", "-p", "22", "h"])[1:3] == [
        "-p",
        "[masked:password]",
    ]
    assert mask_argv(["env", f"DB_PASSWORD={value}", "run"])[1] == "DB_PASSWORD=[masked:password]"
    assert mask_argv(["curl", "-H", f"Authorization: Bearer {fake(24)}"])[2].endswith("]")


@pytest.mark.parametrize(
    "argv",
    [
        ["tool", "--token", "<TOKEN>"],
        ["tool", "--token", "$TOKEN"],
        ["tool", "--password", "--yes"],
        ["tool", "--private-key", "./key.pem"],
        ["docker", "run", "--user", "1000:1000", "image"],
        ["git", "-c", "core.pager=cat", "log"],
        ["ssh", "-p", "2222", "host"],
    ],
)
def test_ordinary_arguments_stay(argv: list[str]) -> None:
    assert mask_argv(argv) == argv


def test_data_is_masked_by_key_by_name_and_by_shape() -> None:
    token = TOKENS["github-classic"]
    data: dict[str, Any] = {
        "env": [{"name": "DB_PASSWORD", "value": "hunter"}, {"name": "TERM", "value": "dumb"}],
        "headers": {"Authorization": f"Bearer {fake(9)}", "Accept": "*/*"},
        "argv": ("tool", "--api-key", fake(9)),
        "log": [1, None, 2.5, f"pushed with {token}"],
        token: True,
    }
    masked = mask_data(data)
    assert masked == {
        "env": [
            {"name": "DB_PASSWORD", "value": "[masked:password]"},
            {"name": "TERM", "value": "dumb"},
        ],
        "headers": {"Authorization": "Bearer [masked:authorization]", "Accept": "*/*"},
        "argv": ["tool", "--api-key", "[masked:api-key]"],
        "log": [1, None, 2.5, "pushed with [masked:github-token]"],
        "[masked:github-token]": True,
    }
    assert mask_data(masked) == masked
    assert data["argv"][1] == "--api-key"


def test_two_masked_keys_stay_two() -> None:
    first, second = "ghp_" + fake(36), "ghp_" + fake(36, "z9Y8")
    assert sorted(mask_data({first: 1, second: 2}).values()) == [1, 2]


def test_data_without_secrets_is_not_even_copied() -> None:
    data = {"verdict": "failure", "row": 6, "evidence": [{"text": "error: no such option"}]}
    assert mask_data(data) is data


def test_data_of_any_depth_is_masked() -> None:
    deep: list[object] = ["api_key=" + fake(12)]
    for _ in range(50_000):
        deep = [deep]
    masked = mask_data(deep)
    for _ in range(50_000):
        masked = masked[0]
    assert masked == ["api_key=[masked:api-key]"]


def test_secrets_that_uncover_each_other_are_masked_to_the_last() -> None:
    # A token of exactly 50 characters counts only when no letter follows: each mask frees the one
    # before it.
    chain = "".join("glptt-" + fake(40) for _ in range(12))
    masked = mask(f"first\n{chain}\nlast")
    assert mask(masked) == masked
    assert fake(20) not in masked
    assert masked.startswith("first\n")
    assert masked.endswith("\nlast")


PIECES = st.one_of(
    st.sampled_from(list(TOKENS.values())),
    st.sampled_from(PLACES),
    st.sampled_from(ORDINARY),
    st.sampled_from(
        ["[masked:token]", "[masked:", "]", "://", ":", "@", "=", '"', "'", "\\", " ", "\n",
         "token", "password", "--token", "Authorization", "Bearer ", "eyJ",
         "ghp_", "-", "\ud800", "\0", "é"]
    ),
    st.text(max_size=12),
)  # fmt: skip
TEXTS = st.one_of(
    st.lists(PIECES, max_size=8).map("".join), st.text(), st.text(alphabet="aA1=:[]\"' -@/.\\\n")
)


@settings(max_examples=400)
@given(TEXTS)
def test_masking_is_total_and_masks_once(text: str) -> None:
    masked = mask(text)
    assert mask(masked) == masked


@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXTS),
        lambda inner: st.one_of(
            st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_masking_data_is_total_and_masks_once(data: object) -> None:
    masked = mask_data(data)
    assert mask_data(masked) == masked


@given(st.lists(PIECES, max_size=6).map(" ".join))
def test_the_literals_only_skip_what_cannot_match(text: str) -> None:
    quick = mask(text)
    shapes = [{**shape, "literals": []} for shape in PATTERNS["shapes"]]
    load_patterns({**PATTERNS, "shapes": shapes})
    assert mask(text) == quick
    load_patterns(PATTERNS)


def test_the_shapes_survive_being_stored_as_json() -> None:
    stored = json.loads(json.dumps(PATTERNS))
    assert stored == PATTERNS
    load_patterns(stored)
    assert mask(TOKENS["vault"]) == "[masked:vault-token]"


def test_shapes_are_collected_when_nobody_loaded_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redact, "_patterns", None)
    assert mask(TOKENS["npm"]) == "[masked:npm-token]"


def test_importing_and_loading_does_not_import_the_scanner() -> None:
    code = (
        "import sys; from triage.redact import load_patterns, mask;"
        "load_patterns({'shapes': [], 'commands': []});"
        "assert mask('plain text') == 'plain text';"
        "print(sorted({'detect_secrets', 'regex', 'yaml', 'requests'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_pattern_that_takes_too_long_withholds_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = {"kind": "slow", "pattern": "(?:a|aa)+[bc]", "flags": "", "group": 0, "literals": [],
             "run": 0, "digit": False, "base64_of": "", "token": False}  # fmt: skip
    monkeypatch.setattr(secret_patterns, "SECONDS", 0.05)
    load_patterns({"shapes": [shape], "commands": []})
    assert mask("a" * 60 + "!") == "[masked:text]"
