"""Every word of `when:`, on captures where it holds and on their neighbours where it must not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_rules import Condition

from triage.match import window_of
from triage.model import Capture
from triage.signals import Signals
from triage.table import Table

Make = Callable[..., Condition]


@pytest.fixture
def when(tmp_path: Path) -> Make:
    """Compile one `when:` (and the vocabulary or sets it names) into a condition."""
    made = iter(range(100))

    def make(condition: Any, **more: Any) -> Condition:
        return Condition(tmp_path / f"rules{next(made)}", condition, **more)

    return make


# all, any, not


def test_all_keys_of_a_condition_must_hold(when: Make) -> None:
    condition = when({"exit": 1, "stderr": "refused"})
    assert condition.holds(stderr="connection refused")
    assert not condition.holds(stderr="connection reset")
    assert not condition.holds(exit_code=2, stderr="connection refused")


def test_all_lists_conditions_that_share_a_word(when: Make) -> None:
    condition = when({"all": [{"text": "alpha"}, {"text": "beta"}]})
    assert condition.evidence(stdout="beta, then alpha") == ["alpha", "beta"]
    assert not condition.holds(stdout="alpha alone")


def test_any_needs_one_of_its_conditions(when: Make) -> None:
    condition = when({"any": [{"exit": 7}, {"stderr": "denied"}]})
    assert condition.holds(exit_code=7)
    assert condition.holds(stderr="denied")
    assert not condition.holds(exit_code=1, stderr="refused")


def test_not_refuses_what_it_names_and_leaves_no_evidence(when: Make) -> None:
    condition = when({"stderr": "error", "not": {"stderr": "warning"}})
    assert condition.evidence(stderr="error: no") == ["error"]
    assert not condition.holds(stderr="warning: an error")


def test_not_with_a_list_refuses_each(when: Make) -> None:
    condition = when({"not": [{"exit": 0}, {"empty": "stderr"}]})
    assert condition.holds(stderr="x")
    assert not condition.holds(exit_code=0, stderr="x")
    assert not condition.holds()


def test_conditions_nest(when: Make) -> None:
    neither = {"not": {"any": [{"text": "a"}, {"text": "b"}]}}
    condition = when({"any": [{"all": [{"exit": 1}, neither]}, {"exit": 9}]})
    assert condition.holds(stdout="c")
    assert not condition.holds(stdout="b")
    assert condition.holds(exit_code=9, stdout="b")


def test_evidence_of_a_refused_branch_is_dropped(when: Make) -> None:
    condition = when({"any": [{"stderr": "first", "exit": 9}, {"stderr": "second"}]})
    assert condition.evidence(stderr="first second") == ["second"]


# is


def test_named_predicates_may_use_one_another(when: Make) -> None:
    why = "A predicate that two rows of a test would share."
    condition = when(
        {"is": ["loud", "odd"]},
        vocabulary={
            "odd": {"why": why, "when": {"exit": [1, 3, 5]}},
            "loud": {"why": why, "when": {"any": [{"is": "shouted"}, {"stderr": "!"}]}},
            "shouted": {"why": why, "when": {"stderr": "(?-i:[A-Z]{5})"}},
        },
    )
    assert condition.evidence(exit_code=3, stderr="it FAILED") == ["FAILE"]
    assert not condition.holds(exit_code=2, stderr="it FAILED")
    assert not condition.holds(exit_code=3, stderr="it failed")


# exit


@pytest.mark.parametrize(
    ("wanted", "yes", "no"),
    [
        (2, [2], [0, 1, 258, None]),
        ([0, 3], [0, 3], [1, 2, -3]),
        ("64-78", [64, 70, 78], [63, 79, None]),
        (137, [137, -9], [9, 136, -15]),
        (-9, [-9], [9, 137]),
        ("129-143", [129, 143, -2, -15], [128, 144, 1, None]),
        (None, [None], [0, 1, -1]),
        ([None, 0], [None, 0], [1]),
        ("signal", [-9, 137, 130, -2], [0, 1, 127, None]),
        ("sigkill", [-9, 137], [-15, 143]),
        ("zero", [0], [1, None]),
        ("nonzero", [1, -9, 256, 0xC0000005], [0, None]),
        ("unknown", [None], [0, 1]),
        ("sigpipe", [141, -13], [13, 1]),
        ("crash", [139, -11, 0xC0000005, -1073741819], [137, 1]),
        ("not_found", [127, 9009], [126, 1]),
        ("timeout", [124], [125]),
        ("out_of_range", [10**30, 300], [1, 255]),
        (3221225477, [0xC0000005], [5]),
        (["sysexits", 1], [1, 65], [2]),
    ],
)
def test_exit_statuses(when: Make, wanted: Any, yes: list[Any], no: list[Any]) -> None:
    condition = when({"exit": wanted})
    assert [code for code in yes if not condition.holds(exit_code=code)] == []
    assert [code for code in no if condition.holds(exit_code=code)] == []


# text, stdout, stderr, error


def test_text_looks_in_both_streams_and_stdout_and_stderr_in_one(when: Make) -> None:
    both, out, err = when({"text": "boom"}), when({"stdout": "boom"}), when({"stderr": "boom"})
    assert both.holds(stdout="boom")
    assert both.holds(stderr="boom")
    assert out.holds(stdout="boom")
    assert not out.holds(stderr="boom")
    assert err.holds(stderr="boom")
    assert not err.holds(stdout="boom")


def test_error_is_stderr_or_stdout_where_stderr_is_blank(when: Make) -> None:
    condition = when({"error": "boom"})
    assert condition.holds(stdout="boom", stderr=" \n")
    assert not condition.holds(stdout="boom", stderr="a warning")
    assert condition.holds(stdout="fine", stderr="boom")


def test_of_a_merged_text_every_stream_is_the_whole(when: Make) -> None:
    for word in ("text", "stdout", "stderr", "error"):
        assert when({word: "boom"}).evidence(merged="out\nboom\n") == ["boom"]


def test_in_names_the_stream_in_the_long_form(when: Make) -> None:
    condition = when({"text": {"in": "stderr", "pattern": "boom"}})
    assert condition.holds(stderr="boom")
    assert not condition.holds(stdout="boom")


def test_a_list_of_patterns_needs_one(when: Make) -> None:
    condition = when({"stderr": ["alpha", "beta"]})
    assert condition.holds(stderr="beta")
    assert not condition.holds(stderr="gamma")


def test_patterns_ignore_case_and_anchor_at_lines(when: Make) -> None:
    condition = when({"stderr": "^error: .+$"})
    assert condition.evidence(stderr="one\nERROR: two\nthree") == ["ERROR: two"]
    assert not condition.holds(stderr="an error: two")
    assert not when({"stderr": "(?-i:^ERROR)"}).holds(stderr="error")


def test_classes_are_ascii(when: Make) -> None:
    assert when({"stderr": r"gr\b"}).holds(stderr="größe")
    assert not when({"stderr": r"^\w+$"}).holds(stderr="größe")
    assert not when({"stderr": r"\d"}).holds(stderr="٣")
    assert not when({"stderr": r"a\sb"}).holds(stderr="a\u00a0b")


def test_escapes_are_gone_before_a_pattern_looks(when: Make) -> None:
    condition = when({"stderr": "^fatal: no"})
    assert condition.holds(stderr="\x1b[31mfatal:\x1b[0m no")
    assert condition.holds(stderr=b"\xef\xbb\xbffatal: no\r\n")


@pytest.mark.parametrize(
    ("window", "yes", "no"),
    [
        ("all", "x\n" * 500 + "boom\n" + "x\n" * 500, "x\n" * 500),
        ("head", "boom\n" + "x\n" * 9000, "x\n" * 9000 + "boom\n"),
        ("tail", "x\n" * 9000 + "boom\n" + "y\n" * 20, "boom\n" + "x\n" * 100),
        ("first_line", "\n\n boom\nx", "x\nboom"),
        ("last_line", "x\nboom \n\n \n", "boom\nx\n"),
    ],
)
def test_windows(when: Make, window: str, yes: str, no: str) -> None:
    condition = when({"stdout": {"pattern": "boom", "window": window}})
    assert condition.evidence(stdout=yes) == ["boom"]
    assert not condition.holds(stdout=no)


@pytest.mark.parametrize("window", ["all", "head", "tail", "first_line", "last_line"])
@pytest.mark.parametrize("text", ["", " \n", "one", "\n\n", "w" * 30_000, "é " * 9000, "a\nb\nc"])
def test_a_window_is_a_part_of_the_text(window: str, text: str) -> None:
    start, end = window_of(window, text)
    assert 0 <= start <= end <= len(text)
    assert bool(text[start:end].strip()) is bool(text.strip())


def test_a_window_does_not_cut_a_word_in_two(when: Make) -> None:
    # The window of the head ends between words, else `\b` would hold where it does not.
    text = "ab " * 2730 + "catalogue" + " z" * 5000
    assert not when({"stdout": {"pattern": r"\bcat\b", "window": "head"}}).holds(stdout=text)


def test_after_wants_its_patterns_in_this_order(when: Make) -> None:
    condition = when({"stderr": {"after": "Traceback", "pattern": "ECONNREFUSED"}})
    assert condition.evidence(stderr="Traceback\n ECONNREFUSED") == ["ECONNREFUSED"]
    assert not condition.holds(stderr="ECONNREFUSED\nTraceback")
    assert not condition.holds(stderr="ECONNREFUSED")
    assert condition.holds(stderr="ECONNREFUSED\nTraceback\nECONNREFUSED")


def test_after_means_the_same_stream(when: Make) -> None:
    condition = when({"text": {"after": "begin", "pattern": "end"}})
    assert not condition.holds(stderr="begin", stdout="end")
    assert condition.holds(stdout="begin end")


def test_count_is_the_least_number_of_finds(when: Make) -> None:
    condition = when({"stdout": {"pattern": ["^FAIL", "^ERROR"], "count": 3}})
    assert condition.holds(stdout="FAIL a\nERROR b\nFAIL c\n")
    assert not condition.holds(stdout="FAIL a\nERROR b\nok c\n")
    assert not condition.holds(stdout="FAIL FAIL FAIL")


def test_text_may_name_a_set_of_patterns(when: Make) -> None:
    condition = when(
        {"stderr": {"set": "fruit"}},
        sets={"fruit": {"about": "Patterns for this test alone.", "patterns": ["apple", "pear"]}},
    )
    assert condition.evidence(stderr="a pear") == ["pear"]
    assert not condition.holds(stderr="a plum")


def test_capture_groups_and_alternations_are_found_whole(when: Make) -> None:
    condition = when({"stderr": r"(\d+) apples|a (?:red|green)(?=er) pear|plums?"})
    assert condition.evidence(stderr="12 apples") == ["12 apples"]
    assert condition.evidence(stderr="two plums") == ["plums"]
    assert not condition.holds(stderr="a red pear")


def test_a_pattern_that_backtracks_is_given_up_with_one_warning() -> None:
    # Lint refuses such patterns; a table made by hand shows what the last guard does.
    pattern = r"(?:a|a)*(?:a|aa)+b$"
    table = Table(
        {
            "hot": {
                "patterns": [pattern], "clauses": [[]], "scanned": [0],
                "predicates": [], "predicate_names": [], "rows": [], "index": {},
            }
        },
        content_hash="0" * 32,
    )  # fmt: skip
    signals = Signals(Capture(exit_code=1, stdout="a" * 200 + "c", stderr="a" * 300 + "c"), table)
    condition = ["text", "any", "all", [0], None, 1]
    assert table.matcher.holds(condition, signals, []) is False
    assert table.matcher.holds(condition, signals, []) is False
    assert [
        w for w in signals.warnings if "took too long" in w and pattern in w
    ] == signals.warnings
    assert len(signals.warnings) == 1


# raw


def test_raw_sees_the_escapes(when: Make) -> None:
    condition = when({"raw": r"\x1b\[\?1049h"})
    assert condition.evidence(stdout="\x1b[?1049hvim") == ["\x1b[?1049h"]
    assert not condition.holds(stdout="[?1049h written out")
    assert not condition.holds(stdout="\x1b[1mbold\x1b[0m")


def test_raw_may_name_its_stream(when: Make) -> None:
    condition = when({"raw": {"in": "stderr", "pattern": [r"\x1b\[31m", r"\x1b\[91m"]}})
    assert condition.holds(stderr="\x1b[91mred")
    assert not condition.holds(stdout="\x1b[91mred")


# envelope, json


@pytest.mark.parametrize(
    ("paths", "yes", "no"),
    [
        ({"ok": False}, {"ok": False}, {"ok": True}),
        (
            {"error.code": ["A", "B"]},
            {"ok": False, "error": {"code": "b"}},
            {"ok": False, "error": {"code": "C"}},
        ),
        (
            {"error.code": {"present": True}},
            {"ok": False, "error": {"code": 0}},
            {"ok": False, "error": {"code": None}},
        ),
        ({"error": {"present": False}}, {"ok": True, "error": None}, {"ok": True, "error": "x"}),
        ({"n": {"min": 3, "max": 5}}, {"ok": True, "n": 4}, {"ok": True, "n": 6}),
        ({"n": {"min": 3}}, {"ok": True, "n": 3.5}, {"ok": True, "n": True}),
        ({"error": {"kind": "string"}}, {"ok": False, "error": "x"}, {"ok": False, "error": {}}),
        (
            {"error": {"kind": ["object", "array"]}},
            {"ok": False, "error": []},
            {"ok": False, "error": "x"},
        ),
        (
            {"error.message": {"matches": "no such"}},
            {"ok": False, "error": {"message": "No such row"}},
            {"ok": False, "error": {"message": 3}},
        ),
        (
            {"tags": {"contains": "slow"}},
            {"ok": True, "tags": ["slow"]},
            {"ok": True, "tags": "slow"},
        ),
        ({"items.0.id": 7}, {"ok": True, "items": [{"id": 7}]}, {"ok": True, "items": []}),
        (
            {"items.-1": "last"},
            {"ok": True, "items": ["a", "last"]},
            {"ok": True, "items": ["last", "a"]},
        ),
        ({"n": 1}, {"ok": True, "n": 1.0}, {"ok": True, "n": True}),
        ({"n": None}, {"ok": True, "n": None}, {"ok": True, "n": 0}),
    ],
)
def test_envelope_paths(when: Make, paths: Any, yes: Any, no: Any) -> None:
    condition = when({"envelope": paths})
    assert condition.holds(stdout=json.dumps(yes))
    assert not condition.holds(stdout=json.dumps(no))
    assert condition.evidence(stdout=f"note\n{json.dumps(yes)}\n") == [json.dumps(yes)]


def test_an_envelope_is_an_object_with_a_boolean_ok(when: Make) -> None:
    condition = when({"envelope": True})
    assert condition.holds(stdout='{"ok":true}')
    for other in ('{"ok":"yes"}', '[{"ok":true}]', '{"okay":true}', "", "ok", '"ok"'):
        assert not condition.holds(stdout=other), other
    assert not condition.holds(stderr='{"ok":true}')


def test_a_fragment_is_no_envelope(when: Make) -> None:
    assert not when({"envelope": True}).holds(stdout='{"items":[{"ok":true},{"i')
    assert not when({"json": True}).holds(stdout='{"items":[{"ok":true},{"i')


def test_json_is_any_extracted_value(when: Make) -> None:
    condition = when({"json": {"errors": {"kind": "array"}}})
    assert condition.holds(stdout='{"errors":[]}')
    assert not condition.holds(stdout='{"errors":{}}')
    assert not condition.holds(stdout="errors")
    assert when({"json": True}).holds(stdout="[1]")
    assert not when({"json": True}).holds(stdout="12")


@pytest.mark.parametrize(
    "path", ["items.--1", "items.²", "items.9999999999", "items.x", "ok.0", "..", ""]
)
def test_odd_paths_lead_nowhere(when: Make, path: str) -> None:
    condition = when({"envelope": {path: {"kind": "string"}}})
    assert not condition.holds(stdout='{"ok":true,"items":[1,2]}')


# extraction


@pytest.mark.parametrize(
    ("facts", "yes", "no"),
    [
        ({"found": True}, "[1]", "nothing"),
        ({"found": True}, "12", "a 12"),
        ({"found": False}, "nothing", "{}"),
        ({"fragment": True}, '{"a":[1,2],"b":{"c"', "{}"),
        ({"polluted": True}, "note\n{}", "{}"),
        ({"has_before": True}, "note\n{}", "{}\nnote"),
        ({"has_after": True}, "{}\nnote", "note\n{}"),
        ({"line_bounded": True}, 'note\n{"a":1}\nmore', 'note {"a":1} more'),
        ({"stripped": True}, '\x1b[1m{"a":1}\x1b[0m', '{"a":1}'),
        ({"step": 2}, "{}", "note {}"),
        ({"step": [4, 5]}, "note\n{}", "{}"),
        ({"candidates": {"min": 2}}, '{"a":1}\n{"b":2}', '{"a":1}'),
        ({"documents": {"min": 2}}, '{"a":1}\n{"b":2}\n', '{"a":1}\n'),
        ({"share": {"min": 0.8}}, 'x\n{"a": "0123456789012345"}', '{"a":1}' + " note" * 20),
        ({"kind": "array"}, "[1]", '{"a":1}'),
        ({"kind": ["string", "number"]}, '"text"', "[1]"),
        ({"kind": "null"}, "null", "0"),
    ],
)
def test_extraction_facts(when: Make, facts: Any, yes: str, no: str) -> None:
    condition = when({"extraction": facts})
    assert condition.holds(stdout=yes)
    assert not condition.holds(stdout=no)


# timing


def test_timing_of_a_hang(when: Make) -> None:
    condition = when({"timing": {"hang": True}})
    assert condition.holds(exit_code=-9, timed_out=True)
    assert condition.holds(exit_code=124)
    assert condition.holds(exit_code=None, silent_s=61, idle_limit_s=60)
    assert condition.holds(exit_code=137, duration_s=59.9, limit_s=60)
    assert not condition.holds(exit_code=137, duration_s=3, limit_s=60)
    assert not condition.holds(exit_code=1, duration_s=60, limit_s=60)


@pytest.mark.parametrize(
    ("facts", "yes", "no"),
    [
        ({"timed_out": True}, {"timed_out": True}, {"exit_code": 124}),
        ({"hang": False}, {"exit_code": 1}, {"exit_code": 124}),
        ({"duration_s": {"min": 10}}, {"duration_s": 11.5}, {"duration_s": 9}),
        ({"duration_s": {"max": 1}}, {"duration_s": 0.2}, {}),
        ({"silent_s": {"min": 5}}, {"silent_s": 6}, {"silent_s": 4}),
        ({"limit_s": {"present": True}}, {"limit_s": 60}, {}),
        ({"idle_limit_s": 30}, {"idle_limit_s": 30.0}, {"idle_limit_s": 31}),
    ],
)
def test_timing_facts(when: Make, facts: Any, yes: Any, no: Any) -> None:
    condition = when({"timing": facts})
    assert condition.holds(**yes)
    assert not condition.holds(**no)


# size, empty


def test_sizes_are_bytes(when: Make) -> None:
    condition = when({"size": {"stdout": [65536, 65537]}})
    assert condition.holds(stdout="x" * 65536)
    assert condition.holds(stdout="é" * 32768)
    assert not condition.holds(stdout="é" * 65536)
    assert not condition.holds(stderr="x" * 65536)


def test_total_size_is_both_streams_together(when: Make) -> None:
    condition = when({"size": {"total": {"min": 40_000}}})
    assert condition.holds(stdout="x" * 20_000, stderr="y" * 20_000)
    assert not condition.holds(stdout="x" * 39_999)
    assert condition.holds(merged="x" * 40_000)
    assert not condition.holds(merged="x" * 20_000)
    assert when({"size": {"stderr": {"max": 3}}}).holds(stderr="abc")


def test_empty_streams_hold_nothing_but_blanks_and_escapes(when: Make) -> None:
    assert when({"empty": "stdout"}).holds(stdout=" \n\x1b[0m\r\n", stderr="x")
    assert not when({"empty": "stdout"}).holds(stdout="x")
    assert when({"empty": "stderr"}).holds(stdout="x")
    assert when({"empty": "both"}).holds()
    assert when({"empty": ["stdout", "stderr"]}).holds(stderr="\n")
    assert not when({"empty": "both"}).holds(stderr="x")


def test_of_a_merged_text_only_both_streams_can_be_empty(when: Make) -> None:
    for wanted in ("stdout", "stderr", "both"):
        assert when({"empty": wanted}).holds(merged="\n")
        assert not when({"empty": wanted}).holds(merged="x")


# prompt, language, mid_structure, http


PROMPTS = {
    "about": "Prompts for this test alone.",
    "prompts": {
        "pager": [{"pattern": "^:$"}, {"raw": r"\x1b\[7m--More--"}],
        "confirm": [{"in": "stderr", "window": "tail", "pattern": r"\[y/n\]"}],
    },
}


def test_prompts_are_looked_for_where_their_set_says(when: Make) -> None:
    condition = when({"prompt": "pager"}, sets={"prompts": PROMPTS})
    assert condition.holds(stdout="line\n:")
    assert not condition.holds(stdout=":\nline")
    assert condition.holds(stdout="line\n\x1b[7m--More--\x1b[0m\nx")
    either = when({"prompt": ["pager", "confirm"]}, sets={"prompts": PROMPTS})
    assert either.holds(stderr="Go on? [y/n]\n...")
    assert not either.holds(stdout="Go on? [y/n]\n...")


LANGUAGES = {
    "about": "Translations for this test alone.",
    "languages": {"de": ["Datei oder Verzeichnis nicht gefunden"], "fr": ["Aucun fichier"]},
}


def test_language_is_known_by_translations(when: Make) -> None:
    german = when({"language": ["de"]}, sets={"languages": LANGUAGES})
    assert german.holds(stderr="ls: x: Datei oder Verzeichnis nicht gefunden")
    assert not german.holds(stderr="ls: x: Aucun fichier ou dossier")
    assert not german.holds(stderr="ls: größe.txt: No such file or directory")
    every = when({"language": True}, sets={"languages": LANGUAGES})
    assert every.holds(stderr="ls: x: Aucun fichier ou dossier")
    assert every.holds(exit_code=None, stderr="ls: x: Aucun fichier ou dossier")
    assert not every.holds(stderr="ls: größe.txt: No such file or directory")


def test_mid_structure(when: Make) -> None:
    cut, whole = when({"mid_structure": True}), when({"mid_structure": False})
    assert cut.holds(stdout='{"items":["a')
    assert not cut.holds(stdout='{"items":["a"]}')
    assert not cut.holds(stdout="f(x")
    assert whole.holds(stdout="done")
    assert not whole.holds(stdout="[1,\n2,")


HTTP = {
    "about": "What stands around a status, for this test alone.",
    "patterns": [r"\bHTTP(?:/\d)? {status}\b", r"\({status}\)"],
}


@pytest.mark.parametrize(
    ("statuses", "yes", "no"),
    [
        (429, "HTTP 429", "took 4290ms"),
        ([401, 403], "HTTP/2 403", "HTTP 404"),
        ("5xx", "upstream (503)", "upstream (404)"),
        (["4xx", 503], "HTTP 503", "HTTP 500"),
        ({"status": 404, "in": "stderr"}, "HTTP 404", "HTTP 403"),
        ({"status": "4xx", "window": "last_line"}, "x\nHTTP 418", "HTTP 418\nx"),
    ],
)
def test_http_statuses_need_their_context(when: Make, statuses: Any, yes: str, no: str) -> None:
    condition = when({"http": statuses}, sets={"http": HTTP})
    assert condition.holds(stderr=yes)
    assert not condition.holds(stderr=no)
    assert not condition.holds(stderr="429 403 404 503")


# command


@pytest.mark.parametrize(
    ("test", "yes", "no"),
    [
        ({"program": "grep"}, "/usr/bin/grep x a", "rg x"),
        ({"program": ["rg", "Grep"]}, "sudo grep x", "cat x"),
        ({"program": "grep"}, "cat a | grep x", "grep x | cat"),
        ({"program": {"set": "tools"}}, "beta --x", "gamma"),
        ({"subcommand": "remote add"}, "git -C /x remote add o url", "git remote remove o"),
        ({"subcommand": ["push", "pull"]}, "git pull", "git fetch"),
        ({"flags": ["-i", "--interactive"]}, "git rebase -i HEAD~2", "git rebase HEAD~2"),
        ({"flags": "-f"}, "rm -rf x", "rm -r x"),
        ({"flags": "--output"}, "tool --output=json", "tool --out=json"),
        ({"flags_all": ["-r", "-f"]}, "rm -rf x", "rm -r x"),
        ({"without_flags": ["-m", "-F"]}, "git commit", "git commit -m x"),
        ({"wrapper": "timeout"}, "timeout 5 make", "make"),
        ({"words": 0}, "bash", "bash script.sh"),
        ({"words": {"min": 2}}, "cp a b", "cp a"),
        ({"args": r"\bedit\b"}, "crontool job edit 3", "edit now"),
        ({"redirects": "<"}, "cat < in", "cat in"),
        ({"line": r"^watch\b"}, "watch ls", "ls watch"),
        ({"shape": "pipeline"}, "a | b", "a && b"),
        ({"shape": ["and", "or"]}, "a && b", "a; b"),
        ({"without_shape": ["pipeline", "and"]}, "a; b", "a && b"),
        ({"masks_status": True}, "make | tee log", "make"),
        ({"masks_status": False}, "make", "make || true"),
        ({"json_wanted": True}, "gh pr list --json title", "gh pr list"),
        ({"json_wanted": False}, "gh pr list", "kubectl get po -o json"),
        ({"owner_certain": True}, "a; b", "a && b"),
        ({"owner_certain": False}, "a && b", "a"),
        ({"program": "git", "subcommand": "push"}, "git push", "git pull"),
    ],
)
def test_command(when: Make, test: Any, yes: str, no: str) -> None:
    sets = {"tools": {"about": "Names for this test alone.", "names": ["alpha", "beta"]}}
    condition = when({"command": test}, sets=sets)
    assert condition.holds(command=yes)
    assert not condition.holds(command=no)
    assert not condition.holds()


def test_a_stage_test_asks_all_owners_or_one_or_any_stage(when: Make) -> None:
    line = "make lint && grep -q x report"
    test = {"program": "grep"}
    assert not when({"command": {"stage": "owner", **test}}).holds(command=line)
    assert when({"command": {"stage": "possible", **test}}).holds(command=line)
    assert when({"command": {"stage": "owner", **test}}).holds(command=line, exit_code=0)
    piped = "grep x a | sort"
    assert not when({"command": {"stage": "possible", **test}}).holds(command=piped)
    assert when({"command": {"stage": "any", **test}}).holds(command=piped)


def test_pipestatus_names_the_owner(when: Make) -> None:
    condition = when({"command": {"program": "curl"}})
    line = "set -o pipefail; curl -f u | jq ."
    assert condition.holds(command=line, exit_code=22, pipestatus=(22, 0))
    assert not condition.holds(command=line, exit_code=5, pipestatus=(0, 5))


def test_all_tests_of_a_stage_must_hold_of_the_same_stage(when: Make) -> None:
    condition = when({"command": {"stage": "any", "program": "git", "flags": "-v"}})
    assert not condition.holds(command="git status && rsync -v a b")
    assert condition.holds(command="git remote -v && rsync a b")


def test_effect_of_a_line_as_the_caller_or_the_rules_know_it(table: Table) -> None:
    for command, told, expected in (
        ("git status", None, "read_only"),
        ("git push", None, "mutating"),
        ("frobnicate x", None, "unknown"),
        ("frobnicate x", "read_only", "read_only"),
    ):
        signals = Signals(Capture(exit_code=1, command=command, effect=told), table)
        for effect in ("read_only", "mutating", "unknown"):
            condition = ["command", [["effect", [effect]]], [], "owner"]
            assert table.matcher.holds(condition, signals, []) is (effect == expected), command


def test_a_list_of_words_is_a_command_too(when: Make) -> None:
    condition = when({"command": {"program": "grep", "words": 2}})
    assert condition.holds(command=("grep", "a b", "file; rm -r x"))


# observed


@pytest.mark.parametrize(
    ("facts", "yes", "no"),
    [
        ({"command": True}, {"command": "x"}, {}),
        ({"command": False}, {}, {"command": "x"}),
        ({"merged": True}, {"merged": "x"}, {"stdout": "x"}),
        ({"truncated": True}, {"truncated": ({"stream": "stdout"},)}, {}),
        ({"pty": True}, {"pty": True}, {"pty": False}),
        ({"sandboxed": True}, {"sandboxed": True}, {}),
        ({"undecodable": True}, {"stderr": b"\xff\xfe\xff"}, {"stderr": b"fine"}),
        ({"escapes": True}, {"stdout": "\x1b[1mx"}, {"stdout": "x"}),
        ({"stdin": ["pipe", "file"]}, {"stdin": "pipe"}, {"stdin": "null"}),
        ({"shell": {"matches": "zsh$"}}, {"shell": "/bin/zsh"}, {"shell": "/bin/bash"}),
        ({"effect": "read_only"}, {"effect": "read_only"}, {"effect": "mutating"}),
        ({"effect": {"present": False}}, {}, {"effect": "mutating"}),
        ({"attempt": {"min": 2}}, {"attempt": 3}, {"attempt": 1}),
        (
            {"stage_complains": True},
            {"command": "zstd -d a.zst | wc -c", "stderr": "zstd: a.zst: unsupported format\n"},
            {"command": "zstd -d a.zst | wc -c", "stderr": "zstd: a.zst: warning: old format\n"},
        ),
        ({"hidden_status": {"min": 2}}, {"pipestatus": (2, 0)}, {"pipestatus": (141, 0)}),
        ({"hidden_status": {"min": 1}}, {"pipestatus": (0, 1, 0)}, {"pipestatus": (0, 2)}),
        (
            {"repeats": {"min": 2}},
            {"previous": ({"rule": "a"}, {"rule": "b"}, {"rule": "b"})},
            {"previous": ({"rule": "b"}, {"rule": "a"}, {"rule": "b"})},
        ),
    ],
)
def test_observed(when: Make, facts: Any, yes: Any, no: Any) -> None:
    condition = when({"observed": facts})
    assert condition.holds(**yes)
    assert not condition.holds(**no)


# agent


def test_agent_facts_of_a_stream(tmp_path: Path, table: Table) -> None:
    lines = [
        {"type": "system", "subtype": "init", "session_id": "s", "model": "m", "mcp_servers": []},
        {"type": "result", "subtype": "success", "is_error": False, "session_id": "s",
         "result": "", "num_turns": 1},
    ]  # fmt: skip
    stream = "".join(json.dumps(line) + "\n" for line in lines)
    silent = ["agent", [["texts", [["in", [0]]]], ["tools", [["in", [0]]]]]]
    for text, expected in ((stream, True), ("no stream at all", False), ('{"a":1}\n', False)):
        signals = Signals(Capture(exit_code=0, stdout=text), table)
        assert table.matcher.holds(silent, signals, []) is expected, text
