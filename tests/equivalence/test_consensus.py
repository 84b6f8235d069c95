"""Consensus is the loops of `reference` and `learned_reference`: agreement, experts, survey, traits and network."""

import math

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators.consensus.finding import find
from consilience.aggregators.consensus.opinion_weights import copies, skills
from consilience.aggregators.consensus.survey import OF_CLASSES, OF_ITEMS
from consilience.aggregators.consensus.traits import traits_of
from consilience.aggregators.consensus.translation import TranslationModel
from consilience.answering.learned import network
from consilience.answering.learned.experts import Reading
from consilience.answering.learned.features import CLASS, NAMES, PANEL
from consilience.passes.reader import Reader

import learned_reference as slow
import reference
from simulate import softmax_members

N_ITEMS, N_CLASSES = 40, 3

pytestmark = pytest.mark.filterwarnings("ignore:this panel is unlike")


@pytest.fixture(params=["dense", "missing", "tied", "labels", "both", "torch and labels", "list of answers"])
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
    if request.param in {"dense", "missing", "tied"}:
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
    answers += [(m, i, row[::-1]) for m, i, row in answers if m == 1 and i % 4 == 0]  # who changes its mind
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
    np.testing.assert_allclose(agreement.mean_confidence, [np.mean(given) for given in sure], atol=1e-10)


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
    finding = find(predictions, chunk_size)
    standing, n_members = finding.found.standing, predictions.n_members
    believed = slow.credibility(answers, standing.weights, copies(standing.agreement), N_CLASSES)
    np.testing.assert_allclose(standing.credibility, believed, atol=1e-9)
    assert finding.found.n_effective == pytest.approx(slow.n_effective(answers, standing.weights, N_ITEMS))
    assert finding.found.is_hard.tolist() == slow.are_hard(answers, n_members)
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


@pytest.mark.parametrize("chunk_size", [None, 1, 7])
def test_the_survey_is_the_loops(case, chunk_size):
    predictions, answers = case
    finding = find(predictions, chunk_size)
    opinions = opinions_of(finding, predictions)
    by_class, totals = slow.survey(
        opinions.average, slow.votes_of(answers), opinions.translation, opinions.n_answers[:, 0]
    )
    for name in OF_CLASSES:
        np.testing.assert_allclose(finding.found.survey.of_class(name), by_class[name], atol=1e-8, err_msg=name)
    for name in OF_ITEMS:
        assert finding.found.survey.mean(name) * N_ITEMS == pytest.approx(totals[name], abs=1e-8), name


def test_traits_are_the_loops(case):
    predictions, answers = case
    found = find(predictions, None).found
    traits = traits_of(found)
    expected_classes, expected_panel = traits_by_loops(found, answers, predictions.n_members, N_CLASSES)
    for place, name in enumerate(CLASS):
        np.testing.assert_allclose(traits.classes[:, place], expected_classes[name], atol=1e-8, err_msg=name)
    for place, name in enumerate(PANEL):
        assert traits.panel[place] == pytest.approx(expected_panel[name], abs=1e-8), name


def traits_by_loops(found, answers, n_members, n_classes):
    """All traits by name, from the answers and the survey's sums."""
    survey, votes = found.survey, slow.votes_of(answers)
    n_items = survey.totals[0]

    def against_even(shares):
        return [min(max(math.log(max(share, 1e-5) * n_classes), -5), 3) for share in shares]

    said = [[sum(1 for n, _, j in votes if (n, j) == (m, k)) for k in range(n_classes)] for m in range(n_members)]
    voters = [m for m in range(n_members) if sum(said[m])]
    first = survey.of_class("first choices")
    classes = {
        "share in average": against_even(survey.of_class("average") / n_items),
        "share of votes": against_even(survey.of_class("votes") / n_items),
        "share in translation": against_even(survey.of_class("translation") / n_items),
        "share of first choices": against_even(first / n_items),
        "agreement on it": [
            a / max(b, 1) for a, b in zip(survey.of_class("agreeing"), survey.of_class("meeting"), strict=True)
        ],
        "average's confidence in it": [
            (c + 1 / n_classes) / (f + 1) for c, f in zip(survey.of_class("certainty"), first, strict=True)
        ],
        "members who say it": [sum(said[m][k] > 0 for m in voters) / len(voters) for k in range(n_classes)],
    }
    chance_of = slow.chances(votes, n_members, n_classes)
    sameness = copies(found.standing.agreement)
    all_skills = skills(found.standing.votes, sameness)
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
                excess.append((beyond[-1] - all_skills[m] * all_skills[n]) * len(both) / (len(both) + 20))
                excesses.append(excess[-1] * (1 - sameness[m][n]))

    def mean_of(values):
        return sum(v * w for v, w in zip(values, weights, strict=True)) / sum(weights)

    agreement = mean_of(beyond)
    once = [1 / sum(sameness[m][n] for n in voters) for m in voters]
    skill = all_skills[voters]
    mean_skill = sum(a * w for a, w in zip(skill, once, strict=True)) / sum(once)
    among = [sum(sameness[m][n] for n in voters if n != m) / (len(voters) - 1) for m in voters]
    hard, vote = slow.are_hard(answers, n_members), 0.98 + 0.02 / n_classes
    confidence = np.mean([vote if hard[m] else max(x) for m, _, x in answers])
    claimed, shown = 1 - (n_classes * confidence - 1) / (n_classes - 1), 1 - math.sqrt(max(agreement, 0))
    breadth = [math.exp(-sum(c / sum(said[m]) * math.log(c / sum(said[m])) for c in said[m] if c)) for m in voters]
    panel = {
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
        "votes among members": np.mean(hard),
        "mean confidence": confidence,
        "mean entropy": survey.mean("entropy"),
        "evenness of average": slow.entropy(survey.of_class("average") / n_items),
        "claimed over shown errors": min(max(math.log((claimed + 0.02) / (shown + 0.02)), -3), 3),
        "credibility": np.mean(found.standing.credibility),
        "classes said": np.mean(breadth) / n_classes,
        "spread of classes said": np.std(breadth) / n_classes,
        "translation against average": 1 - survey.mean("translation agrees"),
        "votes against average": 1 - survey.mean("votes agree"),
        "top of translation": survey.mean("top of translation"),
        "evenness of translation": slow.entropy(survey.of_class("translation") / n_items),
        "top of average": survey.mean("top"),
        "top of votes": survey.mean("top of votes"),
    }
    return classes, panel


def assert_is_the_forward_pass(predictions, opinions, found, fitted):
    weights = network.shipped()
    traits = traits_of(found)
    outside = weights.outside(traits.panel)
    assert fitted.outside_ == pytest.approx(outside)
    expected = slow.forward(weights, traits, opinions, 1 / (1 + outside), NAMES)
    np.testing.assert_allclose(np.asarray(fitted.posterior_), expected, atol=1e-9)
    np.testing.assert_allclose(np.asarray(fitted.predict_proba(predictions)), expected, atol=1e-9)


def test_the_answer_is_the_loops(case):
    predictions, _ = case
    finding = find(predictions, None)
    opinions = opinions_of(finding, predictions)
    assert_is_the_forward_pass(predictions, opinions, finding.found, cs.Consensus().fit(predictions))


@pytest.mark.parametrize("n_classes", [24, 25, 70])
def test_the_answer_among_many_classes_is_the_loops(rng, n_classes):
    """From 25 classes on, the network looks at the candidates alone; from 64 on, what vanishes is left out."""
    array, _ = softmax_members(rng, [9, 7, 3], n_items=15, n_classes=n_classes)
    predictions = cs.Predictions(array)
    finding = find(predictions, None)
    opinions = opinions_of(finding, predictions)
    assert_is_the_forward_pass(predictions, opinions, finding.found, cs.Consensus().fit(predictions))
    answers = reference.answers_of(array)
    standing = finding.found.standing
    rates, translated = slow.translation(answers, standing.weights, standing.credibility, 15, n_classes)
    np.testing.assert_allclose(finding.translated.parameters, rates, atol=1e-8)
    np.testing.assert_allclose(opinions.translation, translated, atol=1e-7)
