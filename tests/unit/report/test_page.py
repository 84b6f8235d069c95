"""The page is one file that loads nothing and runs nothing of the data; bad options leave no file."""

import json
import re

import numpy as np
import pytest

import consilience as cs
from consilience.report import write_report
from consilience.report.page import page

from simulate import named, softmax_members

HOSTILE = ["<script>alert(1)</script>", "</script><img src=x onerror=alert(2)>", "\"'&\u2028\ud800", "x" * 5000]


def test_no_name_leaves_its_place(tmp_path):
    array, truth = softmax_members(np.random.default_rng(0), [2, 1, 1, 1], 8, 4)
    p = cs.Predictions(array, members=HOSTILE, classes=HOSTILE, items=[f"{name}{n}" for name in HOSTILE for n in "ab"])
    path = write_report(tmp_path / "report.html", p, labels=named(truth, p), title=HOSTILE[1])
    text = path.read_text(encoding="utf-8")
    assert "alert(1)</script" not in text and "<img" not in text
    data = text.split('id="payload">')[1].split("</script>")[0]
    assert not set("<>&") & set(data)
    payload = json.loads(data)
    assert payload["classes"][:3] == HOSTILE[:3]
    assert len(payload["classes"][3]) == 200
    assert payload["title"] == HOSTILE[1]


def test_the_page_names_no_other_place(payload):
    text = page(payload).replace("http://www.w3.org/2000/svg", "")
    assert "http" not in text.replace('http-equiv="Content-Security-Policy"', "")
    assert "innerHTML" not in text and " onclick" not in text and "style=" not in text
    policy = text.split('Content-Security-Policy" content="')[1].split('"')[0]
    assert policy.startswith("default-src 'none'; script-src 'sha256-") and "unsafe" not in policy


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"aggregator": "soft"}, "aggregator must be one of consilience's, such as Consensus(); got str"),
        ({"most_items": 0}, "most_items must be an integer of at least 1; got 0"),
        ({"most_items": True}, "most_items must be an integer of at least 1; got True"),
        ({"title": 3}, "title must be text; got 3"),
        ({"labels": [0]}, "labels must have one entry for each of the 2 items; got 1"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, options, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        write_report(tmp_path / "report.html", [[[0.5, 0.5], [0.1, 0.9]]], **options)
    assert not (tmp_path / "report.html").exists()


def test_the_path_comes_first(tmp_path):
    with pytest.raises(
        TypeError, match=r"path must say where to write, and comes before the predictions; got a ndarray"
    ):
        cs.write_report(np.full((2, 3, 2), 0.5), tmp_path / "r.html")
