"""Static imports are found where they stand and nowhere else; an empty script is told from code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.script_source import Import, imports_of, is_empty


def names(source: str) -> list[str]:
    return [item.specifier for item in imports_of(source)]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('import "/a.js"', ["/a.js"]),
        ("import d from './d.js';", ["./d.js"]),
        ('import d, {a as b} from "d"', ["d"]),
        ('import * as all from "all"', ["all"]),
        ('import{a}from"./x.js";import b from"./y.js"', ["./x.js", "./y.js"]),
        ('import {\n  a, // the "a"\n  b /* from "c" */,\n} from "./x"\n', ["./x"]),
        ('export * from "./e.js"; export * as n from "./n.js"', ["./e.js", "./n.js"]),
        ('export {a, b as default} from "./e.js"', ["./e.js"]),
        ('"use strict"\nconst a = 1\nimport "./late.js"', ["./late.js"]),
        ('export default function f() { return 1 } import "./after.js"', ["./after.js"]),
        ('export const a = "x"; import y from "./y"', ["./y"]),
        ('const t = `a ${ `b ${c}` } d`; import "./t"', ["./t"]),
        ('if (x) /["/]/.test(y); import "./r"', ["./r"]),
        ('x = a / b; y = "/"; import "./k"', ["./k"]),
        ("import\n'./n'", ["./n"]),
        ('import "./same"; import "./same"', ["./same"]),
        (r'import "./a\"b"', ['./a"b']),
        (r'import "./\x61\u0062\u{63}\t\d\ud800"', ["./abc\td\ufffd"]),
    ],
)
def test_imports_at_the_top_level_are_found(source: str, found: list[str]) -> None:
    assert names(source) == found


@pytest.mark.parametrize(
    "source",
    [
        "const s = \"import './no'\"",
        '// import "./no"',
        '/* import "./no" */',
        '`import "./no"`',
        '`${ `import "./no"` }`',
        'import("./lazy.js")',
        "import.meta.hot.accept()",
        '{ import "./no" }',
        'foo.import "./no"',
        'const $import = "./no"',
        'export { a, b }; const c = "./no"',
        'export const s = "./no"',
        'export default "./no"',
        'const r = /import ".\\/no"/',
        'x = {import: "./no"}',
        'import "./never ends',
        "import {a, b",
        "import",
        "",
    ],
)
def test_what_only_looks_like_an_import_is_none(source: str) -> None:
    assert names(source) == []


def test_the_type_of_an_import_is_kept() -> None:
    assert imports_of('import z from "./z.json" with {type: "json"}\nimport "./a"') == (
        Import("./z.json", "json"),
        Import("./a"),
    )


def test_reading_stops_where_the_source_is_not_understood_and_keeps_what_it_has() -> None:
    assert names('import "./a"; import ??? from "./b"; import "./c"') == ["./a"]


@pytest.mark.parametrize(
    "source",
    ["", " \n\ufeff", "// x", "/* a */ /* b */", '"use strict";', "export {};", ";;",
     "//# sourceMappingURL=data:application/json;base64,e30=", "/* never ends"],
)  # fmt: skip
def test_a_script_without_code_is_empty(source: str) -> None:
    assert is_empty(source)


@pytest.mark.parametrize(
    "source", ["1", 'import "./a"', "export {a}", "/**/x", '"use me" + 1', "<"]
)
def test_a_script_with_code_is_not(source: str) -> None:
    assert not is_empty(source)


PIECES = ["import ", "export ", '"a"', "'", "`", "${", "}", "{", "(", ")", "/", "/*", "*/", "//",
          "\n", "[", "\\", "from", " a", ",", "*", ";", "if ", "with {type:"]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_any_source_can_be_read(source: str) -> None:
    for item in imports_of(source):
        assert item.specifier.encode()
    is_empty(source)


@pytest.mark.parametrize(
    "unit",
    ["import ", '"', "`${", "{", "a/ ", "/[", "/*", "export {", "import {a,", "(/\\", "if (", "`$",
     "\\", "import 'a'", " /"],
)  # fmt: skip
def test_half_a_megabyte_of_anything_is_read_in_linear_time(unit: str) -> None:
    # A quadratic reader would take minutes here: the run itself is the assertion.
    source = unit * (500_000 // len(unit))
    assert len(imports_of(source)) <= 1
    assert is_empty(source) in (True, False)
