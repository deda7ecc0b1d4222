"""YAML with places: every value knows its line and column, duplicate keys are errors."""

from __future__ import annotations

from typing import Any

from triage.errors import LocatedIssue, RuleError

__all__ = ["Source", "load_yaml"]

Path = tuple[Any, ...]
_MOST_VALUES = 200_000
# The last step of the place of a key itself, not of its value.
_KEY = object()


class Source:
    """One parsed YAML file: its data and the place of every value in it."""

    __slots__ = ("_marks", "data", "name")

    def __init__(self, name: str, data: Any, marks: dict[Path, tuple[int, int]]) -> None:
        self.name = name
        self.data = data
        self._marks = marks

    def where(self, *path: Any) -> str:
        """``file:line:column`` of the value at `path`, or of its nearest known parent."""
        steps = tuple(path)
        while steps not in self._marks and steps:
            steps = steps[:-1]
        line, column = self._marks.get(steps, (1, 1))
        return f"{self.name}:{line}:{column}"

    def where_key(self, *path: Any) -> str:
        """``file:line:column`` of the key at `path`: of what is wrong with having it at all."""
        return self.where(*path, _KEY)


def load_yaml(name: str, text: str) -> Source:
    """Parse one YAML document; `name` is the file named in errors.

    Raises `RuleError` with file:line:column for text that is no YAML, a duplicate key, or more
    values than a rule file has (aliases of aliases).
    """
    import yaml

    loader_class = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        loader = loader_class(text)
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark else f"{name}:1:1"
        raise RuleError(
            [LocatedIssue(place, f"not YAML: {error.problem or error.context}", "correct it")]
        ) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise RuleError([LocatedIssue(f"{name}:1:1", f"not YAML: {error}", "correct it")]) from None
    if node is None:
        return Source(name, None, {})
    marks: dict[Path, tuple[int, int]] = {}
    built = 0

    def build(item: Any, path: Path) -> Any:
        nonlocal built
        built += 1
        # Aliases may repeat what they name; this many values is no rule file any more.
        if built > _MOST_VALUES:
            raise RuleError([LocatedIssue(_place(name, item), "too many values", "split the file")])
        marks[path] = (item.start_mark.line + 1, item.start_mark.column + 1)
        if len(path) > 60:
            raise RuleError([LocatedIssue(_place(name, item), "nested too deeply", "flatten it")])
        if isinstance(item, yaml.ScalarNode):
            try:
                return loader.construct_object(item)
            except (yaml.YAMLError, ValueError) as error:
                raise RuleError(
                    [LocatedIssue(_place(name, item), f"bad value: {error}", "quote the value")]
                ) from None
        if isinstance(item, yaml.SequenceNode):
            return [build(child, (*path, index)) for index, child in enumerate(item.value)]
        result: dict[Any, Any] = {}
        for key_node, value_node in item.value:
            key = build(key_node, (*path, _KEY))
            if isinstance(key, (dict, list)):
                raise RuleError(
                    [LocatedIssue(_place(name, key_node), "a key that is no scalar", "quote it")]
                )
            if key in result:
                raise RuleError(
                    [LocatedIssue(_place(name, key_node), f"key `{key}` twice", "keep one")]
                )
            place = marks.pop((*path, _KEY))
            result[key] = build(value_node, (*path, key))
            marks[(*path, key, _KEY)] = place
        return result

    try:
        data = build(node, ())
    finally:
        loader.dispose()
    return Source(name, data, marks)


def _place(name: str, node: Any) -> str:
    return f"{name}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"
