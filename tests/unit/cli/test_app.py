"""The commands and their order, the version, and how errors end."""

from typer.main import get_command

import consilience as cs
from consilience.cli.app import app


def test_usage_errors_and_help(run):
    assert run("aggregate")[0] == 2
    code, out, _ = run("--help")
    assert code == 0 and all(name in out for name in ("aggregate", "compare", "evaluate", "explain", "report", "demo"))
    code, out, _ = run("--version")
    assert out.strip() == f"consilience {cs.__version__}"


def test_commands_are_listed_as_they_are_needed():
    names = list(get_command(app).commands)
    assert names[0] == "aggregate" and names[-2:] == ["demo", "reproduce"] and len(names) == 9
