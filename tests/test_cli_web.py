"""`triage probe` and `triage audit` from the outside: formats, statuses, the audit trail."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from page_servers import Answer, Site, html, js, moved

from triage.audit import record
from triage.audit_log import read_lines
from triage.cli.app import run_app

WORDS = html("<p>three little words")


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TRIAGE_AUDIT", "TRIAGE_FORMAT"):
        monkeypatch.delenv(name, raising=False)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = run_app(list(arguments))
    shown = capsys.readouterr()
    return status, shown.out, shown.err


def test_a_good_page_ends_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    with Site({"/": WORDS}) as site:
        status, out, err = run(capsys, "probe", site.url)
    assert (status, err) == (0, "")
    assert out.splitlines()[0] == f"ok: {site.url}"


def test_a_preview_error_ends_with_95_and_names_check_url_and_status(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = html('<div id=app></div><script type=module src="/main.js"></script>')
    with Site({"/": page}) as site:
        status, out, _ = run(capsys, "probe", site.url)
    assert status == 95
    assert out.splitlines()[0] == (
        f"preview_error (asset): {site.url}main.js: status 404: Cannot GET it"
    )
    assert "blank" in out


def test_the_count_of_what_resolves_speaks_only_of_what_was_looked_at(
    capsys: pytest.CaptureFixture[str],
) -> None:
    linked = html("<p>hi<link rel=stylesheet href=/a.css><script src=/b.js></script>")
    foreign = html("<p>hi<script src=https://elsewhere.example/c.js></script>")
    pages = {"/": WORDS, "/linked": linked, "/foreign": foreign, "/b.js": js("go()")}
    with Site(pages) as site:
        said = [
            run(capsys, "probe", site.url + path)[1].splitlines()[-1].strip()
            for path in ("", "linked", "foreign", "nowhere")
        ]
    assert said == [
        "it refers to no file",
        "1 of 2 files it refers to resolve",
        "no file it refers to was checked; 1 not fetched (other origin)",
        "there was no page to read, so nothing it refers to was checked",
    ]


def test_json_is_the_envelope_and_stderr_the_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with Site({"/": html("")}) as site:
        status, out, err = run(capsys, "probe", site.url, "--json")
    assert status == 95
    data = json.loads(out)["data"]
    assert (data["verdict"], data["check"], data["url"]) == ("preview_error", "blank", site.url)
    assert err == (
        f"triage: probe: preview_error (blank): {site.url}: status 200: "
        "no text, and no element that could hold any\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [["nothing"], ["ftp://h/"], ["http://h/", "--timeout", "0"], ["http://h/", "--max-assets", "0"],
     ["http://h/", "--allow-origin", "h"], []],
    ids=repr,
)  # fmt: skip
def test_bad_arguments_end_with_2_and_ask_nobody(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    status, out, err = run(capsys, "probe", *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("triage: ")


def test_origins_are_allowed_one_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    with Site({"/": WORDS}) as other, Site({"/": moved(other.url)}) as site:
        status, out, _ = run(capsys, "probe", site.url)
        assert (status, other.asked) == (95, [])
        assert "another origin" in out
        status, _, _ = run(capsys, "probe", site.url, "--allow-origin", other.origin)
    assert status == 0


def test_insecure_takes_any_certificate(capsys: pytest.CaptureFixture[str]) -> None:
    with Site({"/": WORDS}, tls=True) as site:
        assert run(capsys, "probe", site.url)[0] == 95
        assert run(capsys, "probe", site.url, "--insecure")[0] == 0


def test_secrets_in_a_page_are_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    with Site({"/": Answer(f"<p>denied {token}".encode(), "text/html", 500)}) as site:
        for arguments in (["probe", site.url], ["probe", site.url, "--json"]):
            _, out, err = run(capsys, *arguments)
            assert token not in out + err
            assert "masked:" in out


def test_an_error_goes_into_the_audit_file_by_option_or_environment(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = str(tmp_path / "log")
    with Site({"/": html("")}) as site:
        run(capsys, "probe", site.url, "--audit", log)
        monkeypatch.setenv("TRIAGE_AUDIT", log)
        run(capsys, "probe", site.url)
        status, _, err = run(capsys, "probe", site.url, "--audit", "/dev/full")
    assert status == 95
    assert "not recorded in '/dev/full'" in err
    assert [event["event"] for event in read_lines(log) if event] == ["preview.error"] * 2


def test_classify_records_what_failed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    captures = tmp_path / "captures"
    captures.write_text(
        json.dumps({"exit_code": 127, "command": "jqq .", "stderr": "sh: jqq: not found\n"})
        + "\n" + json.dumps({"exit_code": 0, "command": "ls", "stdout": "a\n"}) + "\n"
    )  # fmt: skip
    log = str(tmp_path / "log")
    assert run(capsys, "classify", str(captures), "--line", "--audit", log)[0] == 0
    (event,) = read_lines(log)
    assert event is not None
    assert (event["event"], event["rule"], event["exit_code"]) == (
        "call.failed", "command-not-found", 127,
    )  # fmt: skip
    status, out, err = run(capsys, "classify", str(captures), "--line", "--audit", "/dev/full")
    assert (status, len(out.splitlines())) == (0, 2)
    assert "no space left" in err


@pytest.fixture
def log(tmp_path: Path) -> str:
    path = str(tmp_path / "log")
    for number in range(3):
        verdict: dict[str, Any] = {"verdict": "failure", "rule": "command-not-found", "mode": 20}
        record(path, "call.failed", verdict=verdict, now=1780819200.0 + number)
    record(path, "agent.turn_failed", verdict={"verdict": "agent_error"}, now=1780819209.0)
    with Path(path).open("a") as file:
        file.write('{"v":1,"torn')
    return path


def test_audit_counts_whole_events_and_says_how_many_are_torn(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    status, out, _ = run(capsys, "audit", log)
    assert status == 0
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[0] == "4 of 4 events, 1 torn lines"
    assert "event 3 call.failed" in lines
    assert "mode 3 20" in lines


def test_audit_filters_and_prints_json_or_the_last_events(
    capsys: pytest.CaptureFixture[str], log: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIAGE_AUDIT", log)
    _, out, _ = run(capsys, "audit", "--event", "agent.*", "--json", "--lines", "5")
    data = json.loads(out)["data"]
    assert (data["whole"], data["matched"], data["torn"]) == (4, 1, 1)
    assert [event["verdict"] for event in data["events"]] == ["agent_error"]
    _, out, _ = run(
        capsys, "audit", "--mode", "20", "--since", "2026-06-07T08:00:01", "--lines", "1"
    )
    assert out.startswith("2 of 4 events")
    assert json.loads(out.splitlines()[-1])["time"] == "2026-06-07T08:00:02.000Z"


@pytest.mark.parametrize("arguments", [[], ["missing"], ["LOG", "--since", "never"]], ids=repr)
def test_audit_refuses_what_it_can_not_read(
    capsys: pytest.CaptureFixture[str], log: str, arguments: list[str]
) -> None:
    given = [log if word == "LOG" else word for word in arguments]
    status, out, err = run(capsys, "audit", *given)
    assert (status, out) == (2, "")
    assert err.startswith("triage: ")


def test_the_probe_costs_nothing_where_it_is_not_used() -> None:
    source = (
        "import sys, triage.probe, triage.audit, triage.cli.web\n"
        "heavy = {'httpx', 'selectolax', 'asyncio', 'yaml', 'ssl'} & set(sys.modules)\n"
        "print(sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_a_program_can_use_it_as_one(tmp_path: Path) -> None:
    with Site(
        {"/": html("<div id=a></div><script src=/a.js></script>"), "/a.js": js("a()")}
    ) as site:
        done = subprocess.run(
            [sys.executable, "-m", "triage", "probe", site.url, "--json"],
            capture_output=True, text=True, cwd=tmp_path,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["data"]["verdict"] == "ok"
