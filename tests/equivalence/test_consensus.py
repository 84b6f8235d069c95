"""Consensus is the loops of `reference` and `learned_reference`: agreement, experts, survey, traits and network."""

import math
from dataclasses import fields
from functools import cache

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators.consensus.class_shares import MANY, ClassShares
from consilience.aggregators.consensus.label_free_fit import (
    OF_CLASSES,
    OF_ITEMS,
    TranslationModel,
    fit_batch,
    fit_panel,
)
from consilience.aggregators.consensus.learned import network
from consilience.aggregators.consensus.learned.experts import (
    CLASS_TRAITS,
    FEATURE_NAMES,
    MEMBER_TRAITS,
    N_SHARES,
    PANEL_TRAITS,
    Reading,
)
from consilience.aggregators.consensus.learned.network import LearnedRule
from consilience.aggregators.consensus.panel import copies, skills, traits_of
from consilience.passes.reader import Reader
from consilience.system.arrays import sample

import learned_reference as slow
import reference
from simulate import softmax_members

N_ITEMS, N_CLASSES = 40, 3

CASES = (
    *("dense", "missing", "tied", "a class unsaid", "undecided and silent", "labels", "both", "torch and labels"),
    "list of answers",
)


EXACT, COUNTED = ClassShares(np.array([0.7, 0.3, 0.0]), MANY), ClassShares(np.array([0.2, 0.3, 0.5]), 50)


@pytest.fixture(params=CASES)
def case(request, rng):
    """Predictions, and the same as a list of answers (member, item, row)."""
    is_partial = request.param in {"missing", "list of answers", "both"}
    array, truth = softmax_members(rng, [3, 2, 1], N_ITEMS, N_CLASSES, missing=0.3 if is_partial else 0)
    labels = np.where(rng.random((2, N_ITEMS)) < 0.7, truth, rng.integers(N_CLASSES, size=(2, N_ITEMS)))
    labels[1, ::3] = -1
    hard = cs.Predictions.from_labels(labels, N_CLASSES)
    if request.param == "tied":
        array[:, :4] = 1 / 3  # nobody votes
        array[1, 4:10] = [0.4, 0.4, 0.2]
    if request.param == "a class unsaid":
        array[:, :, 2] = 0  # softmax gives none, but rounding to few digits may
        array /= array.sum(axis=2, keepdims=True)
    if request.param == "undecided and silent":
        array = np.concatenate([array, np.full((2, N_ITEMS, N_CLASSES), [[[0.4, 0.4, 0.2]], [[np.nan] * 3]])])
    if request.param in CASES[:5]:
        return cs.Predictions(array), reference.answers_of(array)
    if request.param == "labels":
        labels[0, ::2] = labels[1, ::2]
        labels[0, labels[0] < 0] = 0  # somebody answers each item
        hard = cs.Predictions.from_labels(labels, N_CLASSES)
        return hard, reference.answers_of(np.empty((0, N_ITEMS, N_CLASSES)), labels)
    if request.param == "both":
        return cs.Predictions.concatenate([array, hard]), reference.answers_of(array, labels)
    if request.param == "torch and labels":
        theirs = pytest.importorskip("torch").tensor(array)
        return cs.Predictions.concatenate([theirs, hard]), reference.answers_of(array, labels)
    answers = reference.answers_of(array)
    answers += [(m, i, row[::-1]) for m, i, row in answers if m == 1 and i % 4]  # who changes its mind
    member, item, rows = zip(*answers, strict=True)
    return cs.Predictions.from_answers(item, member, probabilities=np.array(rows)), answers


@pytest.mark.parametrize("chunk_size", [None, 7])
def test_agreement_is_the_loops(case, chunk_size):
    predictions, answers = case
    agreement = Reader(predictions, chunk_size=chunk_size).agreement()
    products, counts = reference.agreement(answers, predictions.n_members)
    np.testing.assert_allclose(agreement.products, products, atol=1e-10)
    np.testing.assert_array_equal(agreement.counts, counts)
    sure = [[max(row) for n, _, row in answers if n == m] for m in range(predictions.n_members)]
    np.testing.assert_array_equal(agreement.answers, [len(given) for given in sure])
    np.testing.assert_allclose(agreement.mean_confidence, [np.mean(given or [1]) for given in sure], atol=1e-10)


def test_votes_are_the_loops(case):
    predictions, answers = case
    hard = predictions.votes().hard
    found = sorted(zip(hard.members.tolist(), hard.items.tolist(), hard.labels.tolist(), strict=True))
    assert found == sorted(slow.votes_of(answers))


def test_confusion_matrices_are_the_loops(case, rng):
    predictions, answers = case
    posterior = rng.dirichlet(np.ones(N_CLASSES), size=N_ITEMS)
    statistics = Reader(predictions).statistics(posterior)
    counts = reference.confusion_counts(answers, posterior, predictions.n_members)
    np.testing.assert_allclose(statistics.sums, counts, atol=1e-10)
    model = TranslationModel(np.ones(predictions.n_members))
    np.testing.assert_allclose(model.maximize(statistics), reference.shrunk_rates(counts, 0.1), atol=1e-10)


def opinions_of(finding, predictions, chunk_size=None):
    reader = Reader(predictions, chunk_size=chunk_size)
    reading = Reading(finding.experts, reader)
    parts = [reading.opinions(chunk) for chunk in reader.chunks]
    return type(parts[0])(*(np.concatenate(part) for part in zip(*parts, strict=True)))


@pytest.mark.parametrize("chunk_size", [None, 7])
def test_experts_are_the_loops(case, chunk_size):
    predictions, answers = case
    finding = fit_panel(predictions, chunk_size)
    standing, n_members = finding.standing, predictions.n_members
    believed = slow.credibility(answers, standing.weights, copies(standing.agreement), N_CLASSES)
    np.testing.assert_allclose(standing.credibility, believed, atol=1e-9)
    assert finding.n_effective == pytest.approx(slow.n_effective(answers, standing.weights, N_ITEMS))
    assert finding.standing.is_hard.tolist() == slow.are_hard(answers, n_members)
    rates, translated = slow.translation(answers, standing.weights, believed, N_ITEMS, N_CLASSES)
    opinions = opinions_of(finding, predictions, chunk_size)
    np.testing.assert_allclose(finding.translated.parameters, rates, atol=1e-8)
    np.testing.assert_allclose(opinions.translation, translated, atol=1e-7)
    everybody = np.ones(n_members)
    np.testing.assert_allclose(opinions.average, slow.softened(answers, everybody, N_ITEMS, N_CLASSES), atol=1e-10)
    weighted = slow.softened(answers, standing.weights, N_ITEMS, N_CLASSES)
    np.testing.assert_allclose(opinions.weighted, weighted, atol=1e-10)
    shares, n_votes = slow.vote_shares(slow.votes_of(answers), N_ITEMS, N_CLASSES)
    np.testing.assert_allclose(opinions.votes, shares, atol=1e-12)
    np.testing.assert_array_equal(opinions.n_votes[:, 0], n_votes)
    n_answers = [sum(i == item for _, i, _ in answers) for item in range(N_ITEMS)]
    np.testing.assert_array_equal(opinions.n_answers[:, 0], n_answers)


@pytest.mark.parametrize("chunk_size", [None, 7])
def test_combination_is_the_loops(case, chunk_size):
    predictions, answers = case
    finding = fit_panel(predictions, chunk_size)
    expected = slow.combination(answers, finding.standing.weights, N_ITEMS, N_CLASSES)
    layer = finding.experts.combination
    np.testing.assert_allclose(layer.weights + layer.bias[:, :, None], expected.log_rates, atol=1e-8)
    opinions = opinions_of(finding, predictions, chunk_size)
    np.testing.assert_allclose(opinions.combination, expected.log_posterior, atol=1e-8)
    combined, votes = finding.combined, slow.votes_of(answers)
    np.testing.assert_allclose(combined.class_counts, expected.right.sum(axis=0), atol=1e-8)
    one_hot = [(m, i, np.eye(N_CLASSES)[j]) for m, i, j in votes]
    counts = reference.confusion_counts(one_hot, expected.right, predictions.n_members)
    np.testing.assert_allclose(combined.sums, counts, atol=1e-8)
    np.testing.assert_allclose(combined.answer_counts, counts.sum(axis=2), atol=1e-8)


@pytest.mark.parametrize("n_classes", [10, 11, 70])
def test_the_prior_of_the_combination_stays_weak_with_many_classes(rng, n_classes):
    """From 11 classes on, wrong answers have fewer prior counts; from 64 on, what vanishes is left out."""
    array, _ = softmax_members(rng, [5, 4, 3], n_items=12, n_classes=n_classes)
    finding = fit_panel(cs.Predictions(array), None)
    expected = slow.combination(reference.answers_of(array), finding.standing.weights, 12, n_classes)
    found = opinions_of(finding, cs.Predictions(array)).combination
    np.testing.assert_allclose(np.exp(found), np.exp(expected.log_posterior), atol=1e-8)


@pytest.mark.parametrize("chunk_size", [None, 1, 7])
def test_the_survey_is_the_loops(case, chunk_size):
    predictions, answers = case
    finding = fit_panel(predictions, chunk_size)
    opinions = opinions_of(finding, predictions)
    by_class, totals = surveyed(opinions, answers, slow.reestimated(opinions.average))
    for name, sums in zip(OF_CLASSES, by_class, strict=True):
        np.testing.assert_allclose(finding.survey.of_class(name), sums, atol=1e-8, err_msg=name)
    for name, total in zip(OF_ITEMS, totals, strict=True):
        assert finding.survey.mean(name) * N_ITEMS == pytest.approx(total, abs=1e-8), name


def surveyed(opinions, answers, frequency):
    """The sums of some items by loops, in the order of the library's."""
    by_class, totals = slow.survey(
        opinions.average,
        slow.votes_of(answers),
        opinions.translation,
        opinions.combination,
        frequency,
        opinions.n_answers[:, 0],
    )
    return np.array([by_class[name] for name in OF_CLASSES]), np.array([totals[name] for name in OF_ITEMS])


@pytest.mark.parametrize("forgetting", [1.0, 0.6, 0.0])
def test_one_more_batch_is_the_loops(case, forgetting):
    """Votes are counted under the combination before it; experts and shares are those after it and before it."""
    predictions, answers = case
    n_before, n_members = 25, predictions.n_members
    before, batch = predictions.take(np.arange(n_before)), predictions.take(np.arange(n_before, N_ITEMS))
    first = [(m, i, row) for m, i, row in answers if i < n_before]
    second = [(m, i - n_before, row) for m, i, row in answers if i >= n_before]
    one_hot = [[(m, i, np.eye(N_CLASSES)[j]) for m, i, j in slow.votes_of(some)] for some in (first, second)]
    old = fit_panel(before, None)
    found = fit_batch(old, batch, forgetting, None)

    right = slow.combination(first, old.standing.weights, n_before, N_CLASSES).right
    logs = slow.expected_logs(one_hot[0], right, n_members)
    more = np.exp(slow.combined_votes(slow.votes_of(second), np.zeros((N_ITEMS - n_before, N_CLASSES)), *logs))
    counts = [reference.confusion_counts(*some, n_members) for some in zip(one_hot, (right, more), strict=True)]
    np.testing.assert_allclose(found.combined.sums, forgetting * counts[0] + counts[1], atol=1e-8)
    class_counts = forgetting * right.sum(axis=0) + more.sum(axis=0)
    np.testing.assert_allclose(found.combined.class_counts, class_counts, atol=1e-8)

    opinions = opinions_of(old, before)
    earlier = surveyed(opinions, first, slow.reestimated(opinions.average))
    counted = earlier[0][OF_CLASSES.index("re-estimated")]
    later = surveyed(opinions_of(found, batch), second, (counted + 1) / (n_before + N_CLASSES))
    np.testing.assert_allclose(found.survey.by_class, forgetting * earlier[0] + later[0], atol=1e-8)
    np.testing.assert_allclose(found.survey.totals, forgetting * earlier[1] + later[1], atol=1e-8)


def test_shares_are_reestimated_from_a_sample_of_many_items(rng, monkeypatch):
    monkeypatch.setattr("consilience.aggregators.consensus.label_free_fit.REESTIMATED_ITEMS", 9)
    monkeypatch.setattr("consilience.aggregators.consensus.label_free_fit.REESTIMATED_NUMBERS", 9)
    array, _ = softmax_members(rng, [3, 2, 1], N_ITEMS, N_CLASSES)
    average = array.mean(axis=0)
    places = sample(N_ITEMS, 9)
    assert len(set(places)) == 9 and sorted(places) == places.tolist() and max(places) < N_ITEMS
    frequency = slow.reestimated(average[places])
    expected = sum(row * frequency / (row @ frequency) for row in average)
    found = fit_panel(cs.Predictions(array), None).survey.of_class("re-estimated")
    np.testing.assert_allclose(found, expected, atol=1e-8)


@pytest.mark.parametrize("stated", [None, EXACT, COUNTED], ids=["nothing stated", "exact", "counted"])
def test_traits_are_the_loops(case, stated):
    predictions, answers = case
    found = fit_panel(predictions, None)
    traits = traits_of(found, stated)
    expected_classes, expected_panel, expected_members = traits_by_loops(
        found, answers, predictions.n_members, N_CLASSES, stated
    )
    for place, name in enumerate(CLASS_TRAITS):
        np.testing.assert_allclose(traits.classes[:, place], expected_classes[name], atol=1e-8, err_msg=name)
    for place, name in enumerate(PANEL_TRAITS):
        assert traits.panel[place] == pytest.approx(expected_panel[name], abs=1e-8), name
    for place, name in enumerate(MEMBER_TRAITS):
        np.testing.assert_allclose(traits.members[:, place], expected_members[name], atol=1e-8, err_msg=name)


def traits_by_loops(found, answers, n_members, n_classes, stated):
    """All traits by name, from the answers and the survey's sums."""
    survey, votes = found.survey, slow.votes_of(answers)
    n_items = survey.totals[0]
    right = slow.combination(answers, found.standing.weights, int(n_items), n_classes).right
    said = slow.said_by_members(answers, right, n_members)
    pairs = slow.pairs_of(answers, right, said)
    average_shares = survey.of_class("average") / n_items
    members = slow.member_traits(answers, right, said, pairs, average_shares)
    of_classes = classes_by_loops(survey, votes, said)
    classes = {
        name: slow.against_even(of_classes[name]) if name in SHARES else of_classes[name] for name in of_classes
    } | stated_by_loops(slow.against_even(average_shares), stated)
    panel = panel_by_loops(found, answers, n_members, n_classes) | pairs_by_loops(
        pairs, copies(found.standing.agreement)
    )
    experts = {name: survey.of_class(name) / n_items for name in ("translation", "combination", "re-estimated")}
    least, largest = of_classes["least share of a member"], of_classes["largest share of a member"]
    voters = [m for m in range(n_members) if said.n_votes[m]]

    def mean_over_votes(values):
        return sum(said.n_votes[m] * values[m] for m in voters) / sum(said.n_votes)

    panel |= {
        "combination against average": 1 - survey.mean("combination with average"),
        "combination against translation": 1 - survey.mean("combination with translation"),
        "re-estimated against average": 1 - survey.mean("re-estimated with average"),
        "top of combination": survey.mean("top of combination"),
        "top of re-estimated": survey.mean("top of re-estimated"),
        "evenness of combination": slow.entropy(experts["combination"]),
        "evenness of re-estimated": slow.entropy(experts["re-estimated"]),
        "mean accuracy": mean_over_votes(said.accuracy),
        "best accuracy": max(said.accuracy[m] for m in voters),
        "least accuracy": min(said.accuracy[m] for m in voters),
        "accuracy beyond confidence": mean_over_votes(members["accuracy beyond confidence"]),
        "belief in stated shares": 0 if stated is None else 1 / (1 + 30 / stated.n_counted + 30 / n_items),
    }
    for name, shares in experts.items():
        beyond = [max(own - high, low - own, 0) for own, low, high in zip(shares, least, largest, strict=True)]
        panel[f"{name} outside of members"] = sum(beyond)
    return classes, panel, members


SHARES = CLASS_TRAITS[: N_SHARES - 2]
"""Traits of classes that are logarithms of shares, but for those stated."""


def classes_by_loops(survey, votes, said):
    """The traits of classes by name; shares as they are."""
    n_items, n_classes = survey.totals[0], len(said.rates[0])
    first, average = survey.of_class("first choices"), survey.of_class("average") / survey.totals[0]
    shares = [(n * own + 20 * average) / (n + 20) for n, own in zip(said.n_answers, said.shares, strict=True) if n]
    voters = [m for m, n in enumerate(said.n_votes) if n]
    return {
        "share in average": average,
        "share of votes": survey.of_class("votes") / n_items,
        "share in translation": survey.of_class("translation") / n_items,
        "share of first choices": first / n_items,
        "share in combination": survey.of_class("combination") / n_items,
        "share re-estimated": survey.of_class("re-estimated") / n_items,
        "least share of a member": [min(own[k] for own in shares) for k in range(n_classes)],
        "largest share of a member": [max(own[k] for own in shares) for k in range(n_classes)],
        "agreement on it": [
            a / max(b, 1) for a, b in zip(survey.of_class("agreeing"), survey.of_class("meeting"), strict=True)
        ],
        "average's confidence in it": [
            (c + 1 / n_classes) / (f + 1) for c, f in zip(survey.of_class("certainty"), first, strict=True)
        ],
        "members who say it": [len({m for m, _, j in votes if j == k}) / len(voters) for k in range(n_classes)],
    }


def stated_by_loops(log_average, stated):
    if stated is None:
        return {"stated share": [0] * len(log_average), "stated against average": [0] * len(log_average)}
    believed, logs = 1 / (1 + 30 / stated.n_counted + 30 / N_ITEMS), slow.against_even(stated.shares)
    gaps = [min(max(one - other, -4), 4) for one, other in zip(logs, log_average, strict=True)]
    return {
        "stated share": [believed * log for log in logs],
        "stated against average": [believed * gap for gap in gaps],
    }


def pairs_by_loops(pairs, sameness):
    """The traits of the panel that are means over pairs who are apart, or the largest of all."""
    apart = {pair: 1 - sameness[pair] for pair in pairs}
    known = sum(one.known * apart[pair] for pair, one in pairs.items())
    excess = {pair: one.excess * apart[pair] for pair, one in pairs.items()}
    return {
        "excess agreement": sum(excess.values()) / known,
        "size of excess agreement": sum(map(abs, excess.values())) / known,
        "most excess agreement": min(max(0, *excess.values()), 3),
        "likeness of members": sum(one.likeness * one.known * apart[pair] for pair, one in pairs.items()) / known,
    }


def panel_by_loops(found, answers, n_members, n_classes):
    """The traits of the panel that follow from agreement in votes, from confidence and from the average."""
    survey, votes = found.survey, slow.votes_of(answers)
    n_items = survey.totals[0]
    said = [[sum(1 for n, _, j in votes if (n, j) == (m, k)) for k in range(n_classes)] for m in range(n_members)]
    voters = [m for m in range(n_members) if sum(said[m])]
    heard = sorted({m for m, _, _ in answers})
    chance_of = slow.chances(votes, n_members, n_classes)
    sameness = copies(found.standing.agreement)
    skill = skills(found.standing.votes.among(voters), copies(found.standing.agreement.among(voters)))
    skill_of = dict(zip(voters, skill, strict=True))
    weights, raw, chance, beyond, excess, excesses = [], [], [], [], [], []
    for m in voters:
        for n in voters:
            both = [(x, y) for a, i, x in votes for b, j, y in votes if (a, b) == (m, n) and i == j]
            if m < n and both and sameness[m][n] < 1:
                equal = sum(x == y for x, y in both) / len(both)
                weights.append(len(both) * (1 - sameness[m][n]))
                raw.append(equal)
                chance.append(chance_of[m][n])
                beyond.append((equal - chance_of[m][n]) / (1 - chance_of[m][n]))
                excess.append((beyond[-1] - skill_of[m] * skill_of[n]) * len(both) / (len(both) + 20))
                excesses.append(excess[-1] * (1 - sameness[m][n]))

    def mean_of(values):
        return sum(v * w for v, w in zip(values, weights, strict=True)) / sum(weights)

    agreement = mean_of(beyond)
    once = [1 / sum(sameness[m][n] for n in voters) for m in voters]
    mean_skill = sum(a * w for a, w in zip(skill, once, strict=True)) / sum(once)
    among = [sum(sameness[m][n] for n in voters if n != m) / (len(voters) - 1) for m in voters]
    hard, vote = slow.are_hard(answers, n_members), 0.98 + 0.02 / n_classes
    confidence = np.mean([vote if hard[m] else max(x) for m, _, x in answers])
    claimed, shown = 1 - (n_classes * confidence - 1) / (n_classes - 1), 1 - math.sqrt(max(agreement, 0))
    breadth = [math.exp(-sum(c / sum(said[m]) * math.log(c / sum(said[m])) for c in said[m] if c)) for m in voters]
    return {
        "agreement": agreement,
        "spread of agreement": math.sqrt(mean_of([(value - agreement) ** 2 for value in beyond])),
        "raw agreement": mean_of(raw),
        "chance": mean_of(chance),
        "mean skill": mean_skill,
        "spread of skill": math.sqrt(
            sum(w * (a - mean_skill) ** 2 for a, w in zip(skill, once, strict=True)) / sum(once)
        ),
        "best skill": max(skill),
        "copies": np.mean(among),
        "agreement beyond skill": mean_of(excess),
        "most agreement beyond skill": max(excesses),
        "log classes": math.log(n_classes) / 3,
        "log members": math.log(len(voters)) / 2,
        "log items": math.log(n_items) / 8,
        "log answers an item": math.log(max(len(answers) / n_items, 1)) / 2,
        "log effective members": math.log(slow.n_effective(answers, found.standing.weights, int(n_items))) / 2,
        "missing": max(1 - len(answers) / (n_items * len(voters)), 0),
        "votes among members": np.mean([hard[m] for m in heard]),
        "mean confidence": confidence,
        "mean entropy": survey.mean("entropy"),
        "evenness of average": slow.entropy(survey.of_class("average") / n_items),
        "claimed over shown errors": min(max(math.log((claimed + 0.02) / (shown + 0.02)), -3), 3),
        "credibility": np.mean([found.standing.credibility[m] for m in heard]),
        "classes said": np.mean(breadth) / n_classes,
        "spread of classes said": np.std(breadth) / n_classes,
        "translation against average": 1 - survey.mean("translation with average"),
        "votes against average": 1 - survey.mean("votes with average"),
        "top of translation": survey.mean("top of translation"),
        "evenness of translation": slow.entropy(survey.of_class("translation") / n_items),
        "top of average": survey.mean("top"),
        "top of votes": survey.mean("top of votes"),
    }


# ---- the network ------------------------------------------------------------------------------------------


@cache
def random_network():
    """Networks whose every weight has an effect, and whose ranges some traits of the panel leave."""
    rng, n_networks, n_hidden = np.random.default_rng(0), 2, 6
    sizes = network._sizes((n_networks, len(FEATURE_NAMES), n_hidden))
    arrays = {name: 0.3 * rng.normal(size=size) for name, size in sizes.items()}
    arrays["deviation"] = rng.uniform(0.3, 2, len(FEATURE_NAMES))
    arrays["member_deviation"] = rng.uniform(
        0.05, 0.5, len(MEMBER_TRAITS)
    )  # some traits are further than five of these
    arrays |= {"lowest": -rng.uniform(0, 1, len(PANEL_TRAITS)), "highest": rng.uniform(0, 1, len(PANEL_TRAITS))}
    return network.Network(**{field.name: arrays[field.name] for field in fields(network.Network)})


WEIGHTS = {"random": random_network, "shipped": network.shipped}


def expected_answer(weights, traits, opinions, answers, log_rates):
    n_items = len(opinions.average)
    powers = slow.powers(weights, traits, len(answers) / n_items)
    by_members = slow.evidence(answers, powers, log_rates, n_items)
    return slow.forward(weights, traits, opinions, by_members, 1, FEATURE_NAMES)


@pytest.mark.parametrize("stated", [None, COUNTED], ids=["nothing stated", "counted"])
@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_the_answer_is_the_loops(case, weights, stated):
    predictions, answers = case
    finding = fit_panel(predictions, None)
    opinions, traits = opinions_of(finding, predictions), traits_of(finding, stated)
    combined = slow.combination(answers, finding.standing.weights, N_ITEMS, N_CLASSES)
    expected = expected_answer(weights(), traits, opinions, answers, combined.log_rates)
    for chunk_size in (None, 7):
        rule = LearnedRule(finding.experts, traits, weights(), chunk_size=chunk_size)
        np.testing.assert_allclose(np.asarray(rule.posterior(predictions)), expected, atol=1e-8)


def test_the_answer_of_a_fit_is_that_of_the_rule(case, tmp_path):
    predictions, answers = case
    np.savez(tmp_path / "weights.npz", **network.contents(random_network()))
    finding = fit_panel(predictions, None)
    opinions, traits = opinions_of(finding, predictions), traits_of(finding)
    combined = slow.combination(answers, finding.standing.weights, N_ITEMS, N_CLASSES)
    weights = network.read(tmp_path / "weights.npz")
    expected = expected_answer(weights, traits, opinions, answers, combined.log_rates)
    fitted = cs.Consensus(weights=tmp_path / "weights.npz").fit(predictions)
    np.testing.assert_allclose(np.asarray(fitted.posterior_), expected, atol=1e-8)
    np.testing.assert_allclose(np.asarray(fitted.predict_proba(predictions)), expected, atol=1e-8)


@pytest.mark.parametrize("storage", ["probabilities", "labels"])
@pytest.mark.parametrize("n_classes", [24, 25, 70])
def test_the_answer_among_many_classes_is_the_loops(rng, n_classes, storage):
    """From 25 classes on, the network looks at the candidates alone; from 64 on, what vanishes is left out."""
    array, _ = softmax_members(rng, [9, 7, 3], n_items=15, n_classes=n_classes)
    labels = array.argmax(axis=2)
    is_soft = storage == "probabilities"
    predictions = cs.Predictions(array) if is_soft else cs.Predictions.from_labels(labels, n_classes)
    answers = reference.answers_of(array) if is_soft else reference.answers_of(array[:0], labels)
    finding = fit_panel(predictions, None)
    opinions, traits = opinions_of(finding, predictions), traits_of(finding)
    standing = finding.standing
    rates, translated = slow.translation(answers, standing.weights, standing.credibility, 15, n_classes)
    np.testing.assert_allclose(finding.translated.parameters, rates, atol=1e-8)
    np.testing.assert_allclose(opinions.translation, translated, atol=1e-7)
    combined = slow.combination(answers, standing.weights, 15, n_classes)
    expected = expected_answer(random_network(), traits, opinions, answers, combined.log_rates)
    rule = LearnedRule(finding.experts, traits, random_network())
    np.testing.assert_allclose(np.asarray(rule.posterior(predictions)), expected, atol=1e-8)
