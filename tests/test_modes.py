"""The 77 mode documents, and the reader that the engine takes tier, signature and fallback from."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
import yaml

from triage.errors import RuleError, TriageError
from triage.modes import LINES, Mode, from_data, load_modes, to_data

ROOT = Path(__file__).parent.parent
MODES = ROOT / "rules" / "modes"
SCHEMA = ROOT / "rules" / "schema" / "mode.schema.json"

# Typed from the digest of the published failure modes: id, slug, tier, observable, severity and,
# for the three stubs, the live id.
PUBLISHED = """
 1 exit-codes                       C single     critical -
 2 output-format                    C single     critical -
 3 stderr-stdout                    B single     high     -
 4 verbosity                        B single     medium   -
 5 pagination                       C single     high     -
 6 command-composition              B single     medium   -
 7 output-nondeterminism            C repeated   medium   -
 8 ansi-leakage                     A single     high     -
 9 binary-encoding                  B single     high     -
10 interactivity                    B single     critical -
11 timeouts                         B single     critical -
12 idempotency                      C repeated   critical -
13 partial-failure                  C single     critical -
14 arg-validation                   B single     high     -
15 race-conditions                  C single     high     -
16 signal-handling                  C single     high     -
17 child-process-leakage            C single     medium   -
18 error-quality                    C single     high     -
19 retry-hints                      C single     high     -
20 dependency-discovery             B single     medium   -
21 schema-discoverability           C single     medium   -
22 schema-versioning                C repeated   high     -
23 destructive-ops                  C inspection critical -
24 auth-secrets                     B single     critical -
25 prompt-injection                 C single     critical -
26 session-management               B repeated   high     -
27 platform-portability             B single     medium   -
28 config-shadowing                 B repeated   high     -
29 working-directory                C repeated   medium   -
30 filesystem-side-effects          B repeated   medium   -
31 network-proxy                    B single     high     -
32 self-update                      C single     high     -
33 observability                    C inspection medium   -
34 shell-injection                  A inspection critical -
35 hallucination-inputs             B single     high     -
36 pager-blocking                   B merged     critical 10
37 repl-triggering                  B single     critical -
38 dependency-version-mismatch      B single     high     -
39 help-to-stdout                   B merged     high     3
40 async-race-condition             B repeated   high     -
41 update-notifier                  C single     high     -
42 debug-secret-leakage             A single     critical -
43 output-size-unboundedness        B single     critical -
44 knowledge-packaging              C repeated   medium   -
45 headless-auth                    B single     critical -
46 api-translation-loss             A inspection high     -
47 mcp-schema-staleness             B inspection high     -
48 output-envelope                  C merged     high     2
49 async-job-polling                C repeated   high     -
50 stdin-deadlock                   A single     critical -
51 glob-expansion                   B single     high     -
52 command-tree-discovery           C inspection medium   -
53 credential-expiry                B single     critical -
54 conditional-args                 B single     high     -
55 silent-truncation                C single     high     -
56 pipeline-exit-masking            B single     high     -
57 locale-errors                    A single     medium   -
58 multiagent-conflict              C repeated   high     -
59 high-entropy-tokens              C single     high     -
60 output-buffer-deadlock           C single     critical -
61 pipe-payload-deadlock            B single     critical -
62 editor-trap                      B single     critical -
63 column-width-corruption          B single     medium   -
64 headless-gui                     C single     critical -
65 global-config-contamination      B repeated   high     -
66 symlink-loop                     B single     high     -
67 json5-input                      B single     high     -
68 stdout-pollution                 C single     high     -
69 argument-order-ambiguity         A single     high     -
70 single-argument-arity            C single     high     -
71 noninteractive-installation      C single     critical -
72 integration-artifact-drift       C inspection high     -
73 documentation-accuracy-drift     C inspection high     -
74 credential-scope-declaration     C single     critical -
75 safe-default-execution           C inspection critical -
76 streaming-default-incompatibility B single     high     -
77 no-batch-dispatch                C repeated   high     -
"""

SECTIONS = ("What happens", "Confirm it", "Workaround", "Limitation", "Related")


@pytest.fixture(scope="module")
def modes() -> dict[int, Mode]:
    return load_modes(MODES)


def written(mode: Mode) -> str:
    """A document's own text: no front matter, nothing that is generated."""
    text = (MODES / mode.doc).read_text("utf-8")
    return text.split("\n---\n", 1)[1].split("<!-- generated:begin -->")[0]


def prose(mode: Mode) -> str:
    """The sentences: no headings, and no commands, which are the same wherever they help."""
    text = re.sub(r"(?ms)^```.*?^```$", "", written(mode))
    return "\n".join(line for line in text.split("\n") if not line.startswith("#"))


def test_the_77_published_modes_are_here_and_no_other(modes: dict[int, Mode]) -> None:
    published = [line.split() for line in PUBLISHED.strip().split("\n")]
    ours = [
        [
            str(m.id),
            m.slug,
            m.tier,
            m.observable,
            m.severity,
            "-" if m.merged_into is None else str(m.merged_into),
        ]
        for m in modes.values()
    ]
    assert ours == published
    assert [m.doc for m in modes.values()] == [f"{int(n):02d}-{s}.md" for n, s, *_ in published]


def test_rows_are_those_of_the_seed(modes: dict[int, Mode]) -> None:
    seed = yaml.safe_load((ROOT / "tests" / "data" / "seed_rows.yaml").read_text("utf-8"))
    linked: dict[int, list[int]] = defaultdict(list)
    for row in seed:
        for number in row["modes"]:
            linked[number].append(row["number"])
    assert {m.id: list(m.rows) for m in modes.values() if m.rows} == linked


@pytest.mark.parametrize("label", LINES)
def test_grep_finds_each_line_once_in_each_document(label: str) -> None:
    found = subprocess.run(
        ["grep", "-rn", rf"^\*\*{label}:\*\* .", str(MODES)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.splitlines()
    files = [line.split(":", 1)[0] for line in found]
    assert len(files) == len(set(files)) == 77


def test_what_grep_finds_is_what_the_engine_says(modes: dict[int, Mode]) -> None:
    for mode in modes.values():
        lines = (MODES / mode.doc).read_text("utf-8").split("\n")
        assert f"**Signature:** {mode.signature}" in lines
        assert f"**Tier:** {mode.tier}" in lines
        assert f"**Fallback:** {mode.fallback}" in lines
        assert f"**First action:** {mode.first_action}" in lines
        assert f"**Rows:** {', '.join(map(str, mode.rows)) or 'none'}" in lines


def test_every_tier_c_mode_has_a_fallback(modes: dict[int, Mode]) -> None:
    assert all(mode.fallback for mode in modes.values() if mode.tier == "C")


def test_a_document_has_the_sections_in_their_order(modes: dict[int, Mode]) -> None:
    for mode in modes.values():
        headings = re.findall(r"(?m)^## (.*)$", written(mode))
        stub = mode.merged_into is not None
        assert headings == (["What happens", "Related"] if stub else list(SECTIONS)), mode.doc
        assert re.findall(r"(?m)^# (.*)$", written(mode).split("## ")[0]) == [
            f"§{mode.id} {mode.title}"
        ]


def test_the_workaround_has_a_part_for_the_modes_own_tier(modes: dict[int, Mode]) -> None:
    for mode in modes.values():
        tiers = re.findall(r"(?m)^### Tier ([ABC])$", written(mode))
        assert tiers == sorted(set(tiers)), mode.doc
        # Whoever can do tier A finds a first step everywhere; the last part is the whole cure.
        assert mode.merged_into or (tiers[0], tiers[-1]) == ("A", mode.tier), mode.doc


def test_confirming_and_working_around_come_with_commands(modes: dict[int, Mode]) -> None:
    for mode in modes.values():
        if mode.merged_into is None:
            confirm = written(mode).split("## Confirm it")[1].split("## Workaround")[0]
            cure = written(mode).split("## Workaround")[1].split("## Limitation")[0]
            assert "```sh\n" in confirm, mode.doc
            assert re.search(r"```(sh|python)\n", cure), mode.doc


def test_shell_commands_parse(modes: dict[int, Mode]) -> None:
    for mode in modes.values():
        blocks = re.findall(r"(?ms)^```sh\n(.*?)^```$", written(mode))
        script = re.sub(r"<[a-z][a-z -]*>", "WORD", "\n".join(blocks))
        parsed = subprocess.run(
            ["bash", "-n"],
            input=script,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert (parsed.returncode, parsed.stdout) == (0, ""), mode.doc


def test_no_command_deletes_or_kills_by_name(modes: dict[int, Mode]) -> None:
    for mode in modes.values():
        blocks = "\n".join(re.findall(r"(?ms)^```sh\n(.*?)^```$", written(mode)))
        assert not re.search(r"\b(rm|pkill|killall|shred|mkfs|dd|truncate)\b", blocks), mode.doc
        assert not re.search(r"\byes\s*\|", blocks), mode.doc


def test_a_person_reads_one_in_a_minute(modes: dict[int, Mode]) -> None:
    for mode in modes.values():
        lines = [line for line in written(mode).split("\n") if line.strip()]
        assert len(lines) <= 50, mode.doc
        assert len(prose(mode).split()) <= 295, mode.doc
        assert max(len(mode.signature), len(mode.fallback or ""), len(mode.first_action)) <= 240


def test_no_two_documents_say_the_same(modes: dict[int, Mode]) -> None:
    length = 10
    seen: dict[str, str] = {}
    for mode in modes.values():
        words = re.sub(r"\*\*[A-Z][a-z ]+:\*\*", " ", prose(mode)).lower().split()
        for run in {" ".join(words[i : i + length]) for i in range(len(words) - length + 1)}:
            assert seen.setdefault(run, mode.doc) == mode.doc, run


def test_related_links_are_the_front_matters_and_lead_somewhere(modes: dict[int, Mode]) -> None:
    for mode in modes.values():
        section = written(mode).split("## Related")[1]
        links = re.findall(r"(?m)^- \[§(\d+)\]\(([^)]+)\): \S", section)
        assert [int(number) for number, _ in links] == list(mode.related), mode.doc
        assert [target for _, target in links] == [modes[n].doc for n in mode.related]


def test_every_section_sign_names_a_mode(modes: dict[int, Mode]) -> None:
    for mode in modes.values():
        assert {int(n) for n in re.findall(r"§(\d+)", written(mode))} <= modes.keys()


def test_a_stub_points_to_its_live_document(modes: dict[int, Mode]) -> None:
    for mode in modes.values():
        if mode.merged_into is not None:
            assert mode.related == (mode.merged_into,)
            assert f"§{mode.merged_into}" in mode.signature
            assert modes[mode.merged_into].tier == mode.tier


def test_data_survives_json(modes: dict[int, Mode]) -> None:
    assert from_data(json.loads(json.dumps(to_data(modes)))) == modes


@pytest.mark.parametrize(
    "data", [None, 7, [7], [{}], [{"id": 1}], {"1": 2}, [{"rows": 1, "related": []}], ["x"]]
)
def test_compiled_data_of_another_shape_is_one_error(data: object) -> None:
    with pytest.raises(TriageError, match="compiled modes"):
        from_data(data)


# Broken documents: one sound pair of files, then one change at a time.

GOOD = """---
id: 5
slug: pagination
title: Pagination and large lists
part: 4 Output & Parsing
severity: high
frequency: common
detectability: hard
tier: C
observable: single
related: [43]
---

# §5 Pagination

**Signature:** exactly fifty items

**Tier:** C

**Fallback:** take one page

**First action:** follow the cursor

**Rows:** 2, 10
"""
OTHER = (
    GOOD.replace("id: 5", "id: 43")
    .replace("pagination", "output-size")
    .replace("related: [43]", "related: [5]")
)


def rules(tmp_path: Path, text: str | bytes, name: str = "05-pagination.md") -> Path:
    folder = tmp_path / "modes"
    folder.mkdir(parents=True)
    (tmp_path / "schema").mkdir()
    shutil.copy(SCHEMA, tmp_path / "schema")
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    (folder / "43-output-size.md").write_text(OTHER, "utf-8")
    return folder


def test_a_sound_document_is_read_as_written(tmp_path: Path) -> None:
    mode = load_modes(rules(tmp_path, GOOD))[5]
    assert (mode.rows, mode.related, mode.doc) == ((2, 10), (43,), "05-pagination.md")
    assert (mode.signature, mode.fallback) == ("exactly fifty items", "take one page")


def test_carriage_returns_change_nothing(tmp_path: Path) -> None:
    windows = load_modes(rules(tmp_path / "w", GOOD.replace("\n", "\r\n")))
    unix = load_modes(rules(tmp_path / "u", GOOD))
    assert windows == unix


def test_tier_a_and_b_need_no_fallback(tmp_path: Path) -> None:
    text = GOOD.replace("tier: C", "tier: B").replace("**Tier:** C", "**Tier:** B")
    mode = load_modes(rules(tmp_path, text.replace("**Fallback:** take one page\n", "")))[5]
    assert mode.fallback is None


@pytest.mark.parametrize(
    ("old", "new", "where", "what"),
    [
        ("---\nid", "id", "1:1", "no front matter"),
        ("[43]\n---\n", "[43]\n", "1:1", "without an end"),
        ("related: [43]", "related: [43", "12:1", "not YAML"),
        ("id: 5", "id: five", "2:5", "'five' is no whole number"),
        ("id: 5", "id: 6", "2:5", "id 6 and slug pagination"),
        ("slug: pagination", "slug: paging", "2:5", "id 5 and slug paging"),
        ("severity: high", "severity: huge", "6:11", "'huge' is none of"),
        ("severity: high\n", "", "2:1", "key `severity` is missing"),
        ("severity: high", "severity: high\ncolour: red", "2:1", "'colour' was unexpected"),
        ("tier: C", "tier: C\ntier: C", "10:1", "key `tier` twice"),
        ("**Tier:** C", "**Tier:** D", "18:11", "tier `D`"),
        ("**Tier:** C", "**Tier:** C (loops)", "18:11", "tier `C (loops)`"),
        ("**Tier:** C", "**Tier:** B", "18:11", "tier B, front matter says C"),
        ("**Fallback:** take one page\n", "", "18:11", "tier C without `**Fallback:**`"),
        ("**Signature:** exactly fifty items", "", "12:1", "no line `**Signature:**`"),
        ("**Rows:** 2, 10", "", "12:1", "no line `**Rows:**`"),
        ("exactly fifty items", "", "16:1", "`**Signature:**` says nothing"),
        ("**Rows:**", "**Tier:** C\n\n**Rows:**", "24:1", "a second line `**Tier:**`"),
        ("2, 10", "10, 2", "24:11", "rows `10, 2`"),
        ("2, 10", "2, 17", "24:11", "rows `2, 17`"),
        ("2, 10", "0", "24:11", "rows `0`"),
        ("2, 10", "2, 2", "24:11", "rows `2, 2`"),
        ("2, 10", "9" * 6000, "24:11", "rows `999"),
        ("related: [43]", "related: [43, 44]", "11:15", "§44 is no other document"),
        ("related: [43]", "related: [5]", "11:11", "§5 is no other document"),
        ("observable: single", "observable: merged", "10:13", "go together"),
        ("related: [43]", "related: [43]\nmerged_into: 43", "10:13", "go together"),
        (
            "observable: single",
            "observable: merged\nmerged_into: 44",
            "11:14",
            "§44 is no live document",
        ),
    ],
)
def test_a_broken_document_is_an_error_with_its_place(
    tmp_path: Path, old: str, new: str, where: str, what: str
) -> None:
    assert GOOD.count(old) == 1
    folder = rules(tmp_path, GOOD.replace(old, new))
    with pytest.raises(RuleError) as caught:
        load_modes(folder)
    issue = caught.value.issues[0]
    assert issue.where == f"{folder / '05-pagination.md'}:{where}"
    assert what in issue.what
    assert issue.remedy


def test_a_number_stands_for_one_document(tmp_path: Path) -> None:
    folder = rules(tmp_path, GOOD)
    (folder / "05-paging.md").write_text(GOOD.replace("pagination", "paging"), "utf-8")
    with pytest.raises(RuleError, match=r"05-paging\.md:2:5: §5 is 05-pagination\.md too"):
        load_modes(folder)


def test_a_file_is_named_after_its_mode(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match=r"pagination\.md:1:1: the file is not named NN-slug\.md"):
        load_modes(rules(tmp_path, GOOD, "pagination.md"))


def test_a_stub_has_the_tier_of_its_target(tmp_path: Path) -> None:
    text = GOOD.replace("observable: single", "observable: merged\nmerged_into: 43")
    text = text.replace("tier: C", "tier: B").replace("**Tier:** C", "**Tier:** B")
    with pytest.raises(RuleError, match=r"05-pagination\.md:9:7: not the tier of §43"):
        load_modes(rules(tmp_path, text))


def test_bytes_that_are_no_text_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match=r"05-pagination\.md:1:1: not UTF-8"):
        load_modes(rules(tmp_path, GOOD.encode() + b"\xff"))


def test_all_defects_are_told_at_once(tmp_path: Path) -> None:
    folder = rules(tmp_path, GOOD.replace("**Tier:** C", "**Tier:** D"))
    (folder / "43-output-size.md").write_text(OTHER.replace("2, 10", "x"), "utf-8")
    with pytest.raises(RuleError) as caught:
        load_modes(folder)
    assert [issue.what for issue in caught.value.issues] == ["tier `D`", "rows `x`"]


def test_a_missing_folder_or_schema_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match="no such folder"):
        load_modes(tmp_path / "nowhere")
    with pytest.raises(RuleError, match="no readable schema"):
        load_modes(rules(tmp_path, GOOD), tmp_path / "nowhere.json")
