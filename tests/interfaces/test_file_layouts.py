"""Every layout of `file_layouts` ends in the right panel, or in a sentence with the flags that make it right."""

from pathlib import Path

import numpy as np
import pytest

from file_layouts import CLASSES, ITEMS, LAYOUTS


def read(path, layout):
    """The posterior that the command wrote, in the order of the panel."""
    with np.load(path) as written:
        items, classes, rows = written["items"].tolist(), written["classes"].tolist(), written["posterior"]
    if "items" in layout.named:
        rows = rows[[items.index(name) for name in ITEMS]]
    elif "bench" in layout.named:
        places = [f"{81 + i // 4}/m{i % 2}/{1 + i // 2 % 2}" for i in range(len(ITEMS))]
        rows = rows[[items.index(name) for name in places]]
    elif "alpaca" in layout.named:
        rows = rows[[items.index(f"Describe {name}.") for name in ITEMS]]
    if "classes" in layout.named:
        rows = rows[:, [classes.index(name) for name in CLASSES]]
    return rows


@pytest.mark.parametrize("name", LAYOUTS)
def test_layout(name, run, tmp_path):
    layout = LAYOUTS[name]
    files = layout.write(tmp_path)
    words = ("aggregate", "-m", "average", "-o", "out.npz")
    if layout.refused:
        code, out, err = run(*words, *files)
        sentence = " ".join(err.split())
        assert code == 2 and out == "" and all(part in sentence for part in layout.refused), sentence
        if not layout.flags:
            return
    # A flag such as vit.npy:logits stands in the place of the file.
    told = {flag.partition(":")[0]: flag for flag in layout.flags if flag.endswith(":logits")}
    files = [told.get(Path(file).name, file) for file in files]
    code, _, err = run(*words, *files, *(flag for flag in layout.flags if flag not in told.values()))
    assert code == 0, err
    np.testing.assert_allclose(read("out.npz", layout), layout.expected, rtol=0, atol=layout.tolerance)


def test_what_was_understood_is_shown(run, tmp_path):
    code, _, err = run("aggregate", "-m", "average", *LAYOUTS["LLM judges"].write(tmp_path))
    lines = [" ".join(line.split()) for line in err.split("\n")]
    assert code == 0
    place = lines.index("item: question_id member: judge_model label: verdict")
    assert [line.split()[:2] for line in lines[place + 1 : place + 3]] == [[ITEMS[0], "vit"], [ITEMS[0], "swin"]]
    assert "not read: ['score', 'rationale']" in " ".join(err.split())
