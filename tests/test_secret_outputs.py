"""No secret comes out of any command: shapes by outputs, each fake secret built here."""

from __future__ import annotations

import base64
import io
import json
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from triage import Capture
from triage.__main__ import main
from triage.cache import load_table
from triage.redact import mask, patterns_from

# What of a secret may come out nowhere.
CORE = "Zq4w7Rt2Yx9Kp3Lm"


def fake(length: int, alphabet: str = "a1B2c3D4e5F6g7H8") -> str:
    return (CORE + alphabet * (length // len(alphabet) + 1))[:length]


def low(length: int) -> str:
    return CORE.lower() + ("a1b2c3d4e5f6" * 9)[: length - len(CORE)]


GITHUB = "ghp_" + fake(36)
KEY_BEGIN, KEY_END = (f"-----{word} RSA PRIVATE {'KEY'}-----" for word in ("BEGIN", "END"))
KEY_LINES = "\n".join([fake(64)] * 3)

# Text -> what must be gone; the text stands in stderr, in stdout, in JSON and in the command.
SHAPES: dict[str, str] = {
    "token": f"pushed with {GITHUB}",
    "token-twice": f"{GITHUB} {GITHUB}",
    "token-in-colour": f"pushed with {GITHUB[:14]}\x1b[1;31m{GITHUB[14:]}\x1b[0m",
    "token-with-zero-width": f"pushed with {GITHUB[:12]}\u200b{GITHUB[12:]}",
    "token-wrapped": f"pushed with {GITHUB[:22]}\n{GITHUB[22:]} done",
    "token-in-a-box": f"│ pushed with {GITHUB[:22]} │\n│ {GITHUB[22:]} done │",
    "token-struck-over": "pushed with " + "".join(f"{char}\b{char}" for char in GITHUB),
    "slack": "xoxb-" + "123456789012-123456789012-" + fake(24),
    "stripe": "sk_" + "live_" + fake(24),
    "google": "AIza" + fake(35),
    "npm": "npm_" + fake(36),
    "gitlab": "glpat-" + fake(20),
    "jwt": ".".join(("eyJ" + fake(30), "eyJ" + fake(40), fake(43))),
    "vault": "hvs." + fake(90),
    "age": "AGE-SECRET-" + "KEY-1" + fake(58).upper(),
    "private-key": f"{KEY_BEGIN}\n{KEY_LINES}\n{KEY_END}",
    "private-key-without-end": f"{KEY_BEGIN}\n{KEY_LINES}",
    "private-key-without-beginning": f"{KEY_LINES}\n{KEY_END}",
    "private-key-body": f"MIIEpAIBAAKCAQEA{fake(48)}\n{KEY_LINES}",
    "url": f"https://bob:{CORE}@example.com/x.git",
    "url-slash": f"https://bob:{CORE}/x@example.com/y",
    "url-key": f"GET https://example.com/v1?key={CORE}&x=1",
    "aws-signature": f"Credential=AKIA/x, SignedHeaders=host, Signature={low(64)}",
    "digest": f'Digest username="bob", response="{"a1b2c3d4" * 4}"',
    "bearer": f"Authorization: Bearer {fake(24)}",
    "basic": "Authorization: Basic " + base64.b64encode(f"bob:{CORE}".encode()).decode(),
    "cookie": f"Set-Cookie: sid={CORE}; Path=/",
    "assigned": f"DB_PASSWORD={CORE}",
    "next-line": f"password:\n  {CORE}\n",
    "german": f"Passwort={CORE}",
    "japanese": f"パスワード：{CORE}",
    "spanish": f"contraseña: {CORE}",
    "option": f"tool --password '{CORE} with spaces'",
    "json": json.dumps({"client_secret": CORE}),
    "xml": f"<password>{CORE}</password>",
    "sql": f"ALTER USER bob IDENTIFIED BY '{CORE}'",
    "dsn": f"root:{CORE}@tcp(localhost:3306)/db",
}
GONE = {
    "digest": "a1b2c3d4",
    "age": CORE.upper(),
    "aws-signature": CORE.lower(),
    "basic": base64.b64encode(f"bob:{CORE}".encode()).decode()[8:20],
}
COMMANDS = [
    "curl -sSu bob:{} https://x", "curl -ubob:{} https://x", "curl --user=bob:{} https://x",
    "curl -b sid={} https://x", "curl --oauth2-bearer {} https://x",
    "docker login -u bob -p {} reg", "az login -u bob -p {}", "twine upload -u bob -p {} dist/x",
    "mongosh -u bob -p {} db", "sqlcmd -S h -U sa -P {}", "zip -P {} a.zip b", "7z a -p{} a.7z b",
    "ldapsearch -x -w {} -b dc=x", "smbclient //h/s -U bob%{}", "lftp -u bob,{} h",
    "http -a bob:{} GET x", "keytool -list -keystore k -storepass {}", "mysql -u root -p{} db",
    "sshpass -p {} ssh h", "openssl rsa -passin pass:{}", "PGPASSWORD={} psql",
    "aws configure set aws_secret_access_key {}",
    "npm config set //registry.npmjs.org/:_authToken {}", "vault login {}", "cargo login {}",
    "gh auth login --with-token <<< {}", "mvn -Dsonar.login={} verify",
    "kubectl create secret generic x --from-literal=k={}", "fly secrets set KEY={}",
    "rclone config create r s3 secret_access_key {}", "echo {} | sudo -S ls",
    "echo {} | docker login -u b --password-stdin", "echo bob:{} | chpasswd",
    "printf '%s\\n' {} | gh auth login --with-token", "chpasswd <<EOF\nbob:{}\nEOF",
    "bash -c 'mysql -u root -p{} db'", "sqlplus scott/{}@db", "htpasswd -b f bob {}",
    "net user bob {} /add", "xfreerdp /u:bob /p:{} /v:h", "setenv DB_PASS {}",
    "curl https://x?a=1&b=2 -u bob:{}",
]  # fmt: skip

CASES: list[tuple[str, str]] = [
    *((text, GONE.get(name, CORE)) for name, text in SHAPES.items()),
    *((command.replace("{}", CORE), CORE) for command in COMMANDS),
]


def captures() -> list[dict[str, Any]]:
    """Each shape where a secret can come from: the command, what it printed, what it advised."""
    found: list[dict[str, Any]] = []
    for text, _ in CASES:
        answer = {"ok": False, "error": {"code": "DENIED", "message": text, "fix_command": text}}
        told = json.dumps(answer, ensure_ascii=False)
        if "EOF" in text:
            told = ""  # A here-document in JSON stands on one line, and nobody prints one there.
        found += [
            {"exit_code": 1, "command": "tool push", "stderr": f"fatal: no: {text}\n"},
            {"exit_code": 1, "command": text, "stderr": f"+ {text}\n{text}\nfatal: no\n"},
            {"exit_code": 1, "command": "tool x --json", "stdout": told},
            {"exit_code": 0, "command": "tool x", "stdout": f"{text}\nerror: {text}\n", "id": text},
        ]
    return found


@pytest.fixture(scope="module", autouse=True)
def _own_patterns() -> None:
    patterns_from(lambda: load_table().section("secrets"))


def leaks(shown: str) -> list[str]:
    """Where a secret is in `shown`, with what stands around it; signs nobody sees left out."""
    for sign in (
        "\x1b[1;31m",
        "\\u001b[1;31m",
        "\u200b",
        "\n",
        "\\n",
        "\ufffd[1;31m",
        "\ufffd",
        "\b",
    ):
        shown = shown.replace(sign, "")
    for sign in ("│", " "):
        shown = shown.replace(sign, "")
    found = re.finditer("|".join(map(re.escape, sorted({gone for _, gone in CASES}))), shown)
    return [shown[max(0, match.start() - 60) : match.end() + 20] for match in found]


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., str]:
    """Call the entry point; returns everything it printed."""
    monkeypatch.setenv("TRIAGE_AUDIT", str(tmp_path / "audit.jsonl"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def call(*words: str, stdin: str = "") -> str:
        monkeypatch.setattr(sys, "argv", ["triage", *words])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        main()
        shown = capsys.readouterr()
        return shown.out + shown.err

    return call


NDJSON = "".join(json.dumps(capture, ensure_ascii=False) + "\n" for capture in captures())


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("classify",),
        ("classify", "--line"),
        ("classify", "--json"),
        ("explain",),
        ("explain", "--all"),
        ("explain", "--json"),
    ],
    ids=" ".join,
)
def test_nothing_printed_and_no_audit_line_has_a_secret(
    cli: Callable[..., str], tmp_path: Path, words: tuple[str, ...]
) -> None:
    shown = cli(*words, stdin=NDJSON)
    assert shown
    assert leaks(shown) == []
    audit = tmp_path / "audit.jsonl"
    if words[:1] != ("explain",):
        assert leaks(audit.read_text("utf-8")) == []
        assert len(audit.read_text("utf-8").splitlines()) > len(CASES)


@pytest.mark.parametrize("text", [text for text, _ in CASES], ids=range(len(CASES)))
def test_a_shape_is_masked_once_and_lines_stay_lines(text: str) -> None:
    masked = mask(text)
    assert leaks(masked) == []
    assert mask(masked) == masked
    if "KEY-----" not in text and "MII" not in text:
        assert masked.count("\n") == text.count("\n")


def test_a_run_keeps_and_reports_no_secret(cli: Callable[..., str], tmp_path: Path) -> None:
    script = tmp_path / "tool"
    texts = "\n".join(text for text, _ in CASES)
    script.write_text(f"cat <<'END_OF_IT' >&2\n{texts}\nfatal: no\nEND_OF_IT\nexit 1\n", "utf-8")
    kept = tmp_path / "attempts"
    for name in ("attempts.json", "attempts.md"):
        kept = tmp_path / name
        shown = cli("run", "--json", "--capture", str(kept), "--", "sh", str(script), "-p", texts)
        assert leaks(shown) == []
        assert kept.stat().st_size > len(texts) // 2
        assert leaks(kept.read_text("utf-8")) == []
    plain = [command for command in COMMANDS if not set(command) & set("|<&=")]
    for argv in (shlex.split(command.replace("{}", CORE)) for command in plain):
        shown = cli("run", "--json", "--no-state", "--", "false", *argv)
        assert leaks(shown) == []
    for path in (tmp_path / "audit.jsonl", tmp_path / "state/triage/calls.jsonl"):
        assert leaks(path.read_text("utf-8")) == []


def test_a_judged_agent_run_shows_no_secret(cli: Callable[..., str], tmp_path: Path) -> None:
    for text, _ in CASES:
        if "EOF" in text:
            continue
        said = {"type": "text", "text": text}
        call = {"type": "tool_use", "name": "Bash", "input": {"command": text}}
        events = [
            {"type": "system", "subtype": "init", "session_id": "x"},
            {"type": "assistant", "message": {"content": [said, call]}},
            {"type": "result", "subtype": "error_during_execution", "is_error": True,
             "result": text, "errors": [text]},
        ]  # fmt: skip
        stream = "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in events)
        for words in (("agent", "-"), ("agent", "-", "--json")):
            assert leaks(cli(*words, stdin=stream)) == []
    assert leaks((tmp_path / "audit.jsonl").read_text("utf-8")) == []


def test_our_own_messages_quote_no_secret(cli: Callable[..., str], tmp_path: Path) -> None:
    for words in (
        ("run", "--", f"nosuch --password={CORE}"),
        ("run", "--json", "--", f"nosuch --password={CORE}"),
        ("run", "--cwd", f"/no/password={CORE}", "--", "true"),
        ("classify", "--exit", f"password={CORE}"),
        ("classify", "--json", f"/no/password={CORE}"),
        ("classify", "--exit", "1", "--audit", f"/no/db_token={CORE}/x"),
        ("probe", f"http://bob:{CORE}@127.0.0.1:1/x"),
        ("audit", f"/no/password={CORE}"),
        ("show", f"password={CORE}"),
    ):
        shown = cli(*words)
        assert shown
        assert leaks(shown) == []


def test_a_new_case_has_no_secret(cli: Callable[..., str], tmp_path: Path) -> None:
    for number, capture in enumerate(captures()):
        if capture.get("id"):
            continue
        shown = cli(
            "new", "--chapter", "16-prose-exit", "--why", "the last line says so", "--corpus",
            str(tmp_path / "corpus"), "--id", f"case-{number}", "--tool", "tool",
            stdin=json.dumps(capture),
        )  # fmt: skip
        assert leaks(shown) == []
    texts = [path.read_text("utf-8") for path in (tmp_path / "corpus").rglob("*.yaml")]
    assert len(texts) == 3 * len(CASES)
    assert leaks("\n".join(texts)) == []


def test_an_extracted_payload_has_no_secret(cli: Callable[..., str]) -> None:
    payload = {f"a{number}": text for number, (text, _) in enumerate(CASES)}
    for words in (("extract",), ("extract", "--json")):
        assert leaks(cli(*words, stdin=f"warning: old\n{json.dumps(payload)}\n")) == []


def test_the_library_masks_where_nobody_loaded_a_table() -> None:
    from triage.escalation import capture_data

    patterns_from(lambda: load_table().section("secrets"))
    for text, _ in CASES:
        data = capture_data(Capture(exit_code=1, command=text, stderr=text.encode(), stdout=text))
        assert leaks(json.dumps(data, ensure_ascii=False)) == []
