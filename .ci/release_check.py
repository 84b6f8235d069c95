"""Build the package, and try what was built where nothing else is installed.

Prints a table; the exit code is 1 if a row fails. build, check-wheel-contents, twine and uv must stand beside the
interpreter that runs it; `make release-check` installs them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
QUICK = (
    "tests/golden",
    "tests/unit/answering/test_saving.py",
    "tests/unit/data",
    "tests/unit/files",
    "tests/unit/maths",
    "tests/interfaces/test_persistence.py",
)
LEFT_OUT = ("torch", "playwright")  # large, and the quick tests need neither
FORBIDDEN = re.compile(r"(^|/)(tests|results|paper|benchmarks|training|docs)/")
FILES = """
import json
import numpy as np
rng = np.random.default_rng(0)
truth = rng.integers(3, size=200)
for name in ("vit", "resnet", "swin"):
    scores = np.exp(2 * np.eye(3)[truth] + rng.normal(size=(200, 3)))
    np.save(f"{name}.npy", scores / scores.sum(axis=1, keepdims=True))
with open("truth.csv", "w", encoding="utf-8") as file:
    file.write("label\\n" + "".join(f"{label}\\n" for label in truth))

def annotation(person, said):
    value = {"choices": ["cat dog owl".split()[said]]}
    result = {"from_name": "kind", "to_name": "image", "type": "choices", "value": value}
    return {"completed_by": person, "result": [result], "was_cancelled": False, "ground_truth": False}

tasks = []
for place, label in enumerate(truth):
    said = np.where(rng.random(3) < 0.8, label, rng.integers(3, size=3))
    people = [annotation(person, place) for person, place in enumerate(said.tolist())]
    tasks.append({"id": place, "data": {"image": f"{place}.png"}, "annotations": people, "project": 1})
with open("project.json", "w", encoding="utf-8") as file:
    json.dump(tasks, file)
"""

rows: list[tuple[str, str, str]] = []


def run(what: str, where: str, *words: str | Path, folder: Path = ROOT) -> str | None:
    """The output of a program, or None if it failed; a row of the table says which."""
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, encoding="utf-8", env=ENVIRONMENT, check=False
    )
    lines = (done.stdout + done.stderr).strip().splitlines() or [""]
    rows.append((what, where, "passed" if done.returncode == 0 else f"FAILED: {lines[-1][:90]}"))
    print(*rows[-1], sep=" | ", flush=True)
    return done.stdout if done.returncode == 0 else None


PYENV = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {
    "OMP_NUM_THREADS": "1",
    "PATH": os.pathsep.join([os.environ["PATH"], *map(str, PYENV.glob("*/bin"))]),  # behind its shims, which hide them
}
TOOLS = Path(sys.executable).parent
UV = TOOLS / "uv"


def built(folder: Path) -> Path | None:
    """The wheel, after the checks of its form."""
    run("build", "", sys.executable, "-m", "build", "--outdir", folder)
    wheel, archive = next(folder.glob("*.whl"), None), next(folder.glob("*.tar.gz"), None)
    if wheel is None or archive is None:
        return None
    run("twine check", "", sys.executable, "-m", "twine", "check", "--strict", wheel, archive)
    run("check-wheel-contents", "", TOOLS / "check-wheel-contents", wheel)
    names = subprocess.run(
        (sys.executable, "-m", "zipfile", "-l", wheel), capture_output=True, text=True, check=True
    ).stdout
    held = [line.split()[0] for line in names.splitlines()[1:]]
    is_right = "consilience/py.typed" in held and not any(FORBIDDEN.search(name) for name in held)
    rows.append(("py.typed, and only the package", "", "passed" if is_right else "FAILED"))
    said = {f"its name: {wheel.name.split('-')[1]}"} | {
        f"{name}: {re.search(pattern, (ROOT / name).read_text(encoding='utf-8'), re.MULTILINE)[1]}"
        for name, pattern in (("CITATION.cff", r"^version: (.*)$"), ("CHANGELOG.md", r"^## (.*)$"))
    }
    are_one = len({text.split(": ")[1] for text in said}) == 1
    rows.append(("one version", "", "passed" if are_one else f"FAILED: {', '.join(sorted(said))}"))
    return wheel


def environment(folder: Path, version: str) -> Path | None:
    """The interpreter of an empty environment; None where this Python is not there."""
    done = subprocess.run(
        (UV, "venv", "--quiet", "--no-python-downloads", "--python", version, folder),
        env=ENVIRONMENT,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        return None
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def try_readme(python: Path, where: str, folder: Path) -> None:
    """The README's commands and its Python, outside of the clone."""
    folder.mkdir()
    (folder / "make.py").write_text(FILES, encoding="utf-8")
    shutil.copy(ROOT / "README.md", folder)
    subprocess.run((python, "make.py"), cwd=folder, check=True)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for command in re.findall(r"^consilience .*?(?=\s+#|$)", readme, re.MULTILINE):
        run(command.split(".npy")[0].rsplit(" ", 1)[0], where, python, "-m", *command.split(), folder=folder)
    run("consilience --version", where, python, "-m", "consilience", "--version", folder=folder)
    doctest = ("-m", "doctest", "-o", "NORMALIZE_WHITESPACE", "README.md")
    run("README, Python", where, python, *doctest, folder=folder)


def try_versions(wheel: Path, version: str, resolution: str, folder: Path) -> None:
    """A quick part of the tests, with the oldest or the newest versions of all dependencies."""
    where = f"{version}, {resolution}"
    python = environment(folder, version)
    if python is None:
        return
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    # Named here, because uv counts what a wheel asks for as indirect, and would take the newest of it.
    named = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    wanted = [name for name in named if not name.startswith(LEFT_OUT)]
    install = (UV, "pip", "install", "--quiet", "--python", python, "--resolution", resolution, wheel, *wanted)
    if run("install", where, *install) is not None:
        run("tests, quick part", where, python, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", *QUICK)


def main() -> int:
    """All checks; 1 if one of them failed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = built(folder / "dist")
        if wheel is None:
            return 1
        run("uvx consilience demo", "", UV, "tool", "run", "--from", wheel, "consilience", "demo", folder=folder)
        found = []
        for version in PYTHONS:
            python = environment(folder / version, version)
            if python is None:
                rows.append(("Python", version, "not there"))
            elif run("install", version, UV, "pip", "install", "--quiet", "--python", python, wheel) is not None:
                found.append(version)
                try_readme(python, version, folder / f"readme-{version}")
        for version in found:
            try_versions(wheel, version, "highest", folder / f"highest-{version}")
        if found:
            try_versions(wheel, found[0], "lowest-direct", folder / "lowest")
    print("\n| check | Python | result |\n|---|---|---|")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    return int(any(result.startswith("FAILED") for _, _, result in rows))


if __name__ == "__main__":
    sys.exit(main())
