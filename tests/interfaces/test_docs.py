"""The site documents every public name, draws its own formulas, fetches nothing from elsewhere, has no dead links."""

import importlib.util
import inspect
import re
from operator import attrgetter
from pathlib import Path

import pytest

import consilience as cs
from consilience.aggregators import registry
from consilience.aggregators.base import AbstractAggregator

DOCS = Path(__file__).parents[2] / "docs"
FUNCTIONS = [f"datasets.{name}" for name in cs.datasets.__all__] + [f"metrics.{name}" for name in cs.metrics.__all__]
FUNCTIONS += ["checks.check_aggregator", *(f"plots.{name}" for name in dir(cs.plots) if name.startswith("plot_"))]


def hook(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / "hooks" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_is_in_the_reference():
    public = {*cs.__all__, *cs.metrics.__all__}
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.md"))
    listed = re.findall(r"^::: consilience\.([\w.]+)|^ +members: \[(.*)\]", pages, re.MULTILINE)
    documented = {name for either in listed for part in either for name in re.findall(r"\w+", part)}
    assert len(public) > 15
    assert public - documented == set()


@pytest.mark.parametrize("name", [*cs.__all__, *FUNCTIONS])
def test_every_public_name_has_an_example_that_runs(name):
    """A doctest, which runs with the tests, or code of a page, which runs when the site is built."""
    value = attrgetter(name)(cs)
    pages = [page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md")]
    code = "".join(
        block for page in pages for block in re.findall(r"^```python exec.*?^```", page, re.MULTILINE | re.DOTALL)
    )
    has_doctest = not inspect.ismodule(value) and ">>>" in inspect.getdoc(value)
    assert has_doctest or re.search(rf"\bcs\.{name}\b", code) or name == "datasets.Panel"  # what the others return


def test_links_lead_somewhere():
    links = hook("links")
    links.on_pre_build()
    assert links.dead(DOCS / "index.md") == []


def test_dead_links_are_found(tmp_path, monkeypatch):
    links = hook("links")
    (tmp_path / "there.md").write_text("# What `x` is\n```\n# no heading\n```\n", encoding="utf-8")
    text = "[a](there.md) [b](there.md#what-x-is) [c](https://example.org/x) `docs/index.md`\n"
    text += "[d](gone.md) [e](there.md#no-heading) `docs/gone.md`"
    (tmp_path / "page.md").write_text(text, encoding="utf-8")
    assert links.dead(tmp_path / "page.md") == ["docs/gone.md", "gone.md", "there.md#no-heading"]
    monkeypatch.setattr(links, "ROOT", tmp_path)
    with pytest.raises(ValueError, match=r"page\.md: gone\.md"):
        links.on_pre_build()


def test_the_pages_are_short_enough():
    words = hook("words")
    assert words.words_of("two words\n```\nnot these\n```\n- | 3") == 3
    assert 10_000 < sum(words.by_page().values()) <= words.MOST


@pytest.mark.parametrize(
    "page",
    [
        '<script src="https://cdn.example/mathjax.js"></script>',
        '<link rel="stylesheet" href="//fonts.example/css?family=Roboto">',
        "<link href=https://fonts.example rel=preconnect crossorigin>",
        "<img alt='a' src='http://example.org/a.png'>",
        "<style>@font-face{src:url(https://example.org/a.woff2)}</style>",
        '<style>@import "https://example.org/a.css";</style>',
    ],
)
def test_a_page_that_fetches_from_elsewhere_is_found(page):
    assert hook("self_contained").fetched_from_elsewhere(f"<html>{page}</html>") is not None


@pytest.mark.parametrize(
    "page",
    [
        '<script src="assets/javascripts/bundle.js"></script><link rel="stylesheet" href="../assets/site.css">',
        '<a href="https://doi.org/10.1000/1">a paper</a> <link rel="canonical" href="https://example.org/">',
        '<svg xmlns="http://www.w3.org/2000/svg"><use xlink:href="#a"/></svg>',
        "<style>.a{background:url(#clip)} .b{src:url(data:font/woff2;base64,AA//)}</style>",
    ],
)
def test_a_page_of_its_own_parts_is_let_through(page):
    assert hook("self_contained").fetched_from_elsewhere(f"<html>{page}</html>") is None


def test_formulas_become_mathml_or_fail_the_build():
    pytest.importorskip("latex2mathml")
    mathml = hook("mathml").mathml
    formula = mathml(r"\log \nu_k &lt; \operatorname{softmax}(x)", display="block")
    assert formula.startswith('<math alttext="\\log \\nu_k &lt; \\operatorname{softmax}(x)"')
    assert '<mi>log</mi><mspace width="0.167em" /><msub>' in formula
    assert '<mi mathvariant="normal">softmax</mi>' in formula
    for unknown in (r"\nosuchcommand{x}", r"\begin{aligned} a &= b \end{aligned}"):
        with pytest.raises(ValueError, match="there is no MathML for"):
            mathml(unknown, display="inline")


def test_docstrings_are_made_plain_to_the_parser():
    pytest.importorskip("griffe")
    rewritten = hook("docstrings").rewritten
    assert rewritten("One.\n\n>>> f(1)\n2\n\nMore.") == "One.\n\n```pycon\n>>> f(1)\n2\n```\n\nMore."
    examples = "One.\n\nExamples\n--------\n>>> f(1)\n2"
    assert rewritten(examples) == examples
    shared = "One.\n\nParameters\n----------\na, b\n    Both.\nc\n    Alone."
    assert rewritten(shared) == "One.\n\nParameters\n----------\na\n    Both.\nb\n    Both.\nc\n    Alone."
    attributes = "One.\n\nAttributes\n----------\nx_ : (items,), of all\n    of them\n"
    assert rewritten(attributes) == "One.\n\nAttributes\n----------\nx_\n    (items,), of all\n    of them\n"


def test_the_page_on_adding_an_aggregator_runs(tmp_path, monkeypatch, capsys):
    """An aggregator is one class: what the page says and prints is true."""
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "add-an-aggregator.md").read_text(encoding="utf-8")
    names = {"__name__": "page"}
    try:
        for code in re.findall(r"^```python[^\n]*\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
            exec(code, names)  # noqa: S102 - our own page
        printed = capsys.readouterr().out
        assert "✓ order_of_members" in printed and "✓ chunks" not in printed
        assert registry.commands()["agreement-average"] is names["AgreementAverage"]
    finally:
        for name in ("AgreementAverage", "FirstMember"):
            registry._DEFINED.pop(name, None)
    assert list(tmp_path.iterdir()) == []


def test_a_method_that_a_page_defines_is_forgotten_after_it(monkeypatch):
    ours = {name: kind for name, kind in registry._DEFINED.items() if kind.__module__.startswith("consilience.")}
    monkeypatch.setattr(registry, "_DEFINED", dict(ours))

    class Example(AbstractAggregator):
        command = "example-of-a-page"

    assert registry._DEFINED["Example"] is Example
    assert hook("methods").on_page_content("<p>as it was</p>", page=None) == "<p>as it was</p>"
    assert ours == registry._DEFINED
