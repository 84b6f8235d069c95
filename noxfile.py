"""The checks in environments of their own, for every Python there is: `nox`, or `nox -s tests-3.13`."""

import nox

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
QUICK = ["tests/golden", "tests/unit/answering", "tests/unit/data", "tests/unit/files", "tests/unit/maths"]

nox.options.default_venv_backend = "uv|virtualenv"
nox.options.error_on_missing_interpreters = False


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """All tests, with the versions that they are known to pass with."""
    session.install("--constraint", "constraints.txt", ".[test]")
    session.run("pytest", *session.posargs, env={"OMP_NUM_THREADS": "1"})


@nox.session(python=PYTHONS[0], venv_backend="uv")
def lowest(session: nox.Session) -> None:
    """A quick part of the tests, with the oldest versions that pyproject.toml allows."""
    project = nox.project.load_toml("pyproject.toml")["project"]
    named = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    small = [name for name in named if not name.startswith(("torch", "playwright"))]
    session.install("--resolution", "lowest-direct", ".", *small)
    session.run("pytest", *(session.posargs or QUICK), env={"OMP_NUM_THREADS": "1"})


@nox.session
def lint(session: nox.Session) -> None:
    """Style, types, and which room imports which."""
    session.install("--constraint", "constraints.txt", ".[lint]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("lint-imports", "--no-cache")


@nox.session
def docs(session: nox.Session) -> None:
    """The site, whose examples are run."""
    session.install("--constraint", "constraints.txt", ".[docs]")
    session.run("mkdocs", "build", "--strict", env={"OMP_NUM_THREADS": "1", "NO_MKDOCS_2_WARNING": "1"})


@nox.session
def build(session: nox.Session) -> None:
    """What `make release-check` does."""
    session.install("build", "check-wheel-contents", "twine", "uv")
    session.run("python", ".ci/release_check.py")
