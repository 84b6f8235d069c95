"""Every promise in docs/trust.md has a command, and every command runs something."""

import re
from pathlib import Path

import pytest

from trust import test_bad_calls, test_bad_commands

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "trust.md").read_text("utf-8")
ROWS = re.findall(r"^\| (?!promise|-)(.+) \| `(.+)` \|$", TEXT, re.MULTILINE)


def test_there_are_promises():
    assert len(ROWS) == len(re.findall(r"^\| (?!promise)", TEXT, re.MULTILINE))
    assert len(ROWS) >= 10 and len({promise for promise, _ in ROWS}) == len(ROWS)


@pytest.mark.parametrize("command", [command for _, command in ROWS])
def test_commands_run_something(command):
    if command.startswith("make "):
        assert re.search(rf"^{command[5:]}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
        return
    if module := re.fullmatch(r"\.venv/bin/python -m ((?:tests|benchmarks)\.\S+) .*", command):
        assert (ROOT / f"{module[1].replace('.', '/')}.py").exists()
        return
    words = re.fullmatch(
        r"(?:\w+=\S+ )?\.venv/bin/python -m pytest (\S+(?: tests/\S+)*)(?: -k (?:\"(.+)\"|(\w+)))?", command
    )
    assert words is not None
    for path in words[1].split():
        tests = re.findall(
            r"^(?:def (?=test_)|class (?=Test)|(?=Test\w+ = ))(\w+)", (ROOT / path).read_text("utf-8"), re.MULTILINE
        )
        for word in (words[2] or words[3] or "test").split(" or "):
            assert any(word in test.lower() for test in tests), f"no test in {path} is called {word}"


def test_there_are_many_wrong_inputs():
    tables = (test_bad_calls.PREDICTIONS, test_bad_calls.AGGREGATORS, test_bad_calls.SCORES, test_bad_commands.COMMANDS)
    assert sum(map(len, tables)) >= 150
