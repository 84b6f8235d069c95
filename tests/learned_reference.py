"""What `Consensus` is made of, as slow loops over items, members and classes: experts, survey, traits and network."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import digamma

import reference

TIE, SOFTENED = 1e-6, 0.98


def votes_of(answers):
    """(member, item, class) of each answer that finds one class the most probable."""
    found = []
    for m, i, row in answers:
        largest = [k for k in range(len(row)) if row[k] >= max(row) - TIE]
        if len(largest) == 1:
            found.append((m, i, largest[0]))
    return found


def are_hard(answers, n_members):
    """Who is sure of every answer, and gave one."""
    sure = [[max(row) for n, _, row in answers if n == m] for m in range(n_members)]
    return [bool(given) and sum(given) / len(given) >= 1 - 1e-6 for given in sure]


def softened(answers, weights, n_items, n_classes):
    """The weighted mean of each item's answers; of those who give votes alone, votes that count a little less."""
    hard = are_hard(answers, len(weights))
    soft = [(m, i, SOFTENED * np.array(x) + (1 - SOFTENED) / n_classes if hard[m] else x) for m, i, x in answers]
    return reference.weighted_average(soft, weights, n_items, n_classes)


def log_posterior(scores):
    return np.array(
        [[s - row.max() - math.log(sum(math.exp(t - row.max()) for t in row)) for s in row] for row in scores]
    )


def credibility(answers, weights, sameness, n_classes):
    """What the members' evidence is multiplied by; chance is what the members' own shares of votes would give."""
    n_members, votes = len(weights), votes_of(answers)
    sure = [[max(x) for n, _, x in answers if n == m] for m in range(n_members)]
    claims = [m for m, given in enumerate(sure) if given and sum(given) / len(given) < 1 - 1e-6]
    if not claims:
        return [1.0] * n_members
    claimed = sum(weights[m] * (1 - sum(sure[m]) / len(sure[m])) for m in claims) / sum(weights[m] for m in claims)
    chance_of = chances(votes, n_members, n_classes)
    met, agreed, squares, chance = 0.0, 0.0, 0.0, 0.0
    for m, i, x in votes:
        for n, other, y in votes:
            if i == other and m != n and m in claims and n in claims:
                weight = weights[m] * weights[n] * (1 - sameness[m][n])
                met += weight
                squares += weight**2
                agreed += weight * (x == y)
                chance += weight * chance_of[m][n]
    shown = 0.0
    if met > 0 and len(claims) > 1:
        agreement, chance, n_meetings = agreed / met, chance / met, met**2 / (2 * squares)
        at_most = min(agreement + math.sqrt((agreement * (1 - agreement) + 1 / n_meetings) / n_meetings), 1)
        shown = (1 - math.sqrt(max((at_most - chance) / (1 - chance), 0))) * (1 - chance)
    factor = min(max(((claimed + 0.005) / (shown + 0.005)) ** 3, 1 / 3), 1)
    return [factor if m in claims else 1.0 for m in range(n_members)]


def chances(votes, n_members, n_classes):
    """How often two members would agree by chance, from how often each votes for each class."""
    shares = []
    for m in range(n_members):
        said = [k for n, _, k in votes if n == m]
        shares.append(
            [0.99 * (said.count(k) / len(said) if said else 1 / n_classes) + 0.01 / n_classes for k in range(n_classes)]
        )
    return [[sum(a * b for a, b in zip(x, y, strict=True)) for y in shares] for x in shares]


def n_effective(answers, weights, n_items):
    shares = [sum(m == n for n, _, _ in answers) / n_items for m in range(len(weights))]
    behind = sum(w * s for w, s in zip(weights, shares, strict=True))
    return behind**2 / sum(w**2 * s for w, s in zip(weights, shares, strict=True))


def translation(answers, weights, believed, n_items, n_classes, n_iter=4):
    """Confusion matrices, and the logarithm of what they make of the answers (items, classes)."""
    n_members = len(weights)
    shares = [sum(m == n for n, _, _ in answers) / n_items for m in range(n_members)]
    behind = sum(w * s for w, s in zip(weights, shares, strict=True))
    power = 2.5 * math.sqrt(n_effective(answers, weights, n_items)) / behind
    share = 0.0 if sum(s > 0 for s in shares) == 1 else 0.4
    average = reference.weighted_average(answers, weights, n_items, n_classes)

    def translated(rates):
        scores = np.zeros((n_items, n_classes))
        for m, i, x in answers:
            for k in range(n_classes):
                scores[i, k] += (
                    power * weights[m] * believed[m] * sum(x[j] * math.log(rates[m, k, j]) for j in range(n_classes))
                )
        return log_posterior(scores)

    rates = reference.shrunk_rates(reference.confusion_counts(answers, average, n_members), 0.1)
    for _ in range(n_iter):
        mixed = (1 - share) * average + share * np.exp(translated(rates))
        rates = reference.shrunk_rates(reference.confusion_counts(answers, mixed, n_members), 0.1)
    return rates, translated(rates)


class Combination(NamedTuple):
    """What Bayesian classifier combination makes of the votes."""

    log_posterior: np.ndarray  # (items, classes)
    log_rates: np.ndarray  # (members, true, predicted): expected logarithms
    right: np.ndarray  # (items, classes): the responsibilities of the last pass, which traits follow from


def combination(answers, weights, n_items, n_classes, n_iter=6):
    """Variational Bayes on the votes, vote by vote; it starts from all probabilities under their weighted average."""
    n_members, votes = len(weights), votes_of(answers)
    one_hot = [(m, i, [float(j == label) for j in range(n_classes)]) for m, i, label in votes]
    said, right = answers, reference.weighted_average(answers, weights, n_items, n_classes)
    for _ in range(n_iter):
        right = np.exp(combined_votes(votes, right, *expected_logs(said, right, n_members)))
        said = one_hot
    log_classes, log_rates = expected_logs(said, right, n_members)
    return Combination(combined_votes(votes, right, log_classes, log_rates), log_rates, right)


def expected_logs(said, posterior, n_members):
    """Of the classes' frequencies and of the rates (members, true, predicted), given rows that members say."""
    n_items, n_classes = posterior.shape
    counts = reference.confusion_counts(said, posterior, n_members)
    log_rates = np.zeros_like(counts)
    for m in range(n_members):
        for k in range(n_classes):
            row = [counts[m, k, j] + min(1, 10 / n_classes) + (j == k) for j in range(n_classes)]
            log_rates[m, k] = [digamma(count) - digamma(sum(row)) for count in row]
    classes = [1 + sum(posterior[i, k] for i in range(n_items)) for k in range(n_classes)]
    return [digamma(count) - digamma(sum(classes)) for count in classes], log_rates


def combined_votes(votes, posterior, log_classes, log_rates):
    """The logarithm of what votes make of each item (items, classes)."""
    scores = np.zeros_like(posterior)
    scores += log_classes
    for m, i, j in votes:
        for k in range(posterior.shape[1]):
            scores[i, k] += log_rates[m, k, j]
    return log_posterior(scores)


def reestimated(average, n_iter=30):
    """How frequent classes are, if the averages are right where all are as frequent."""
    n_items, n_classes = average.shape
    frequency = [1 / n_classes] * n_classes
    for _ in range(n_iter):
        counts = [1.0] * n_classes
        for row in average:
            total = sum(p * f for p, f in zip(row, frequency, strict=True))
            for k in range(n_classes):
                counts[k] += row[k] * frequency[k] / total
        frequency = [count / (n_items + n_classes) for count in counts]
    return frequency


def vote_shares(votes, n_items, n_classes):
    """Shares of the votes (items, classes), even where nobody votes; and the number of votes of each item."""
    counts = np.zeros((n_items, n_classes))
    for _, i, k in votes:
        counts[i, k] += 1
    n_votes = counts.sum(axis=1)
    return np.array(
        [row / n if n else np.full(n_classes, 1 / n_classes) for row, n in zip(counts, n_votes, strict=True)]
    ), n_votes


def first_choices(row):
    largest = [value >= max(row) - TIE for value in row]
    return np.array(largest) / sum(largest)


def entropy(shares):
    return -sum(p * math.log(max(p, 1e-12)) for p in shares) / math.log(len(shares))


def survey(average, votes, translated, combined, frequency, n_answers):
    """Sums by class and of the panel, by name."""
    n_items, n_classes = average.shape
    shares, n_votes = vote_shares(votes, n_items, n_classes)
    experts = ("votes", "translation", "combination", "re-estimated")
    of_classes = ("average", *experts, "first choices", "certainty", "agreeing", "meeting")
    by_class = {name: np.zeros(n_classes) for name in of_classes}
    agreeing = {name: f"{name} with average" for name in experts}
    names = ("items", "answers", "entropy", "top", "combination with translation")
    totals = dict.fromkeys((*names, *(f"top of {name}" for name in experts), *agreeing.values()), 0.0)
    for i in range(n_items):
        first = first_choices(average[i])
        weighted = [p * f for p, f in zip(average[i], frequency, strict=True)]
        said = {
            "votes": shares[i],
            "translation": np.exp(translated[i]),
            "combination": np.exp(combined[i]),
            "re-estimated": np.array([value / sum(weighted) for value in weighted]),
        }
        by_class["average"] += average[i]
        by_class["first choices"] += first
        by_class["certainty"] += max(average[i]) * first
        for name, row in said.items():
            by_class[name] += row
            totals[f"top of {name}"] += max(row)
            totals[agreeing[name]] += float(first @ first_choices(row))
        both = first_choices(said["combination"]) @ first_choices(said["translation"])
        totals["combination with translation"] += float(both)
        for k in range(n_classes):
            mine = sum(1 for _, item, label in votes if item == i and label == k)
            by_class["agreeing"][k] += mine * (mine - 1)
            by_class["meeting"][k] += mine * (n_votes[i] - 1)
        totals["items"] += 1
        totals["answers"] += n_answers[i]
        totals["entropy"] += entropy(average[i])
        totals["top"] += max(average[i])
    return by_class, totals


# ---- the traits -------------------------------------------------------------------------------------------


def against_even(shares):
    """Logarithms of shares, 0 where they are even."""
    return [min(max(math.log(max(share, 1e-5) * len(shares)), -5), 3) for share in shares]


class Said(NamedTuple):
    """What members say in all, and how often they would be right if the combination were."""

    n_answers: list  # of each member
    n_votes: list
    shares: list  # (members, classes): of their probabilities, even of who gives none
    confidence: list  # of each member, as it counts where votes are softened
    accuracy: list  # of each member
    rates: np.ndarray  # (members, true, predicted)


def said_by_members(answers, right, n_members):
    """Vote by vote; `right` (items, classes) is how probable the combination finds each class."""
    n_classes, votes, hard = right.shape[1], votes_of(answers), are_hard(answers, n_members)
    of_member = [[row for n, _, row in answers if n == m] for m in range(n_members)]
    even = [1 / n_classes] * n_classes
    sure = [sum(max(row) for row in rows) / len(rows) if rows else 1.0 for rows in of_member]
    usual = sum(right[i, j] for _, i, j in votes) / len(votes) if votes else 1 / n_classes
    accuracy, rates = [], np.zeros((n_members, n_classes, n_classes))
    for m in range(n_members):
        own = [(i, j) for n, i, j in votes if n == m]
        accuracy.append((sum(right[i, j] for i, j in own) + 5 * usual) / (len(own) + 5))
        for k in range(n_classes):
            for j in range(n_classes):
                rates[m, k, j] = 5 * (usual if j == k else (1 - usual) / (n_classes - 1))
                rates[m, k, j] += sum(right[i, k] for i, label in own if label == j)
            rates[m, k] /= sum(rates[m, k])
    return Said(
        n_answers=[len(rows) for rows in of_member],
        n_votes=[sum(n == m for n, _, _ in votes) for m in range(n_members)],
        shares=[np.mean(rows, axis=0) if rows else np.array(even) for rows in of_member],
        confidence=[SOFTENED + (1 - SOFTENED) / n_classes if hard[m] else sure[m] for m in range(n_members)],
        accuracy=accuracy,
        rates=rates,
    )


class Pair(NamedTuple):
    """Two members, of whom both are known by so much."""

    excess: float
    known: float
    agreed: float
    likeness: float  # the cosine of their probabilities beyond chance


def pairs_of(answers, right, said):
    """All ordered pairs of members who differ: how far they agree beyond what their confusion matrices explain."""
    n_members, n_classes, votes = len(said.accuracy), right.shape[1], votes_of(answers)
    n_right = [sum(right[:, k]) for k in range(n_classes)]
    answered = [[sum(right[i, k] for n, i, _ in votes if n == m) for k in range(n_classes)] for m in range(n_members)]
    blind = [0.99 * shares + 0.01 / n_classes for shares in said.shares]

    def beyond_chance(m, n):
        products = [sum(x * y) for a, i, x in answers for b, j, y in answers if (a, b, i) == (m, n, j)]
        chance = sum(blind[m] * blind[n])
        return (sum(products) / len(products) - chance) / max(1 - chance, 1e-6) if products else 0.0

    lengths = [math.sqrt(max(beyond_chance(m, m), 1e-6)) for m in range(n_members)]
    found = {}
    for m in range(n_members):
        for n in range(n_members):
            both = [x == y for a, i, x in votes for b, j, y in votes if (a, b, i) == (m, n, j)]
            if m == n or not both:
                continue
            met = [answered[m][k] * answered[n][k] / n_right[k] for k in range(n_classes)]
            alike = [sum(said.rates[m, k, j] * said.rates[n, k, j] for j in range(n_classes)) for k in range(n_classes)]
            explained = sum(a * b for a, b in zip(met, alike, strict=True)) / sum(met)
            agreed, known = sum(both) / len(both), len(both) / (len(both) + 20)
            excess = (agreed - explained) / math.sqrt(max(explained * (1 - explained), 1e-3))
            likeness = min(max(beyond_chance(m, n) / (lengths[m] * lengths[n]), -1), 1)
            found[m, n] = Pair(excess * known, known, agreed, likeness)
    return found


def member_traits(answers, right, said, pairs, average_shares):
    """The traits of the members by name, (members,) each."""
    (n_items, n_classes), n_members = right.shape, len(said.accuracy)
    votes, hard = votes_of(answers), are_hard(answers, n_members)
    found = []
    for m in range(n_members):
        partners = [pair for (one, _), pair in pairs.items() if one == m]
        known = sum(pair.known for pair in partners)
        agreement = sum(pair.agreed * pair.known for pair in partners) / known if partners else 1.0
        own = [j for n, _, j in votes if n == m]
        named = [own.count(k) / len(own) if own else 1 / n_classes for k in range(n_classes)]
        shares = 0.99 * said.shares[m] + 0.01 / n_classes
        of_being_right = [said.rates[m, k, k] for k in range(n_classes)]
        found.append(
            {
                "accuracy": said.accuracy[m],
                "confidence": said.confidence[m],
                "accuracy beyond confidence": said.accuracy[m] - said.confidence[m],
                "excess agreement": math.log(1 + sum(max(pair.excess, 0) for pair in partners)),
                "most excess agreement": min(max([0.0, *(pair.excess for pair in partners)]), 3),
                "agreement with others": agreement,
                "accuracy beyond agreement": said.accuracy[m] - agreement,
                "distance from average shares": sum(abs(shares - average_shares)) / 2,
                "evenness of its votes": entropy([0.99 * share + 0.01 / n_classes for share in named]),
                "least rate of being right": min(of_being_right),
                "mean rate of being right": sum(of_being_right) / n_classes,
                "gives votes": float(hard[m]),
                "coverage": min(said.n_answers[m] / n_items, 1),
            }
        )
    return {name: [one[name] for one in found] for name in found[0]}


# ---- the network ------------------------------------------------------------------------------------------


def scaled_panel(network, traits):
    """The panel's traits as the networks see them, one by one."""
    n_panel = len(traits.panel)
    found = []
    for place, value in enumerate(traits.panel):
        within = min(max(value, network.lowest[place]), network.highest[place])
        scale = place - n_panel  # they are the last of all features
        found.append(min(max((within - network.mean[scale]) / network.deviation[scale], -5), 5))
    return np.array(found)


def small_network(values, first, first_bias, last):
    hidden = [max(sum(values * first[:, unit]) + first_bias[unit], 0) for unit in range(len(first_bias))]
    return np.array([sum(h * w for h, w in zip(hidden, last[:, out], strict=True)) for out in range(last.shape[1])])


def powers(network, traits, n_answers_an_item):
    """(networks, members, 2): what a member's logarithms and the log-likelihoods of its votes are multiplied by."""
    panel, found = scaled_panel(network, traits), []
    for net in range(len(network.first)):
        of_members = []
        for member in traits.members:
            scaled = [min(max(v, -5), 5) for v in (member - network.member_mean) / network.member_deviation]
            own = small_network(
                np.array([*scaled, *panel]),
                network.member_first[net],
                network.member_bias[net],
                network.member_last[net],
            )
            of_members.append((own + network.member_last_bias[net]) / math.sqrt(max(n_answers_an_item, 1)))
        found.append(of_members)
    return np.array(found)


def evidence(answers, of_members, log_rates, n_items):
    """(networks, items, classes): what members say and vote for, each with its power, answer by answer."""
    n_classes, votes = log_rates.shape[1], votes_of(answers)
    total = np.zeros((len(of_members), n_items, n_classes))
    for net, power in enumerate(of_members):
        for m, i, row in answers:
            for k in range(n_classes):
                total[net, i, k] += power[m][0] * math.log(SOFTENED * row[k] + (1 - SOFTENED) / n_classes)
        for m, i, j in votes:
            for k in range(n_classes):
                total[net, i, k] += power[m][1] * log_rates[m, k, j]
    return total


def forward(network, traits, opinions, by_members, trust, names, most=24):
    """The network's answer (items, classes), feature by feature; `by_members` is the evidence."""
    n_items, n_classes = opinions.average.shape
    n_logs, n_shares = 4, 10
    panel = scaled_panel(network, traits)
    small = [
        small_network(panel, network.panel_first[net], network.panel_bias[net], network.panel_last[net])
        for net in range(len(network.first))
    ]
    result = np.zeros((n_items, n_classes))
    for i in range(n_items):
        average = opinions.average[i] / opinions.average[i].sum()
        experts = {
            "average": opinions.average[i],
            "weighted": opinions.weighted[i],
            "translation": np.exp(opinions.translation[i]),
            "votes": opinions.votes[i],
        }
        ranked = [
            math.log(max(row[k] for row in experts.values())) + 1e-3 * opinions.translation[i][k]
            for k in range(n_classes)
        ]
        order = sorted(range(n_classes), key=lambda k: -ranked[k])
        seen = order[:most] if n_classes > most else range(n_classes)
        ordered = sorted(opinions.average[i])
        item = [
            ordered[-1],
            ordered[-1] - ordered[-2],
            entropy(opinions.average[i]),
            max(opinions.votes[i]),
            math.log(opinions.n_answers[i, 0]) / 3,
        ]
        features, mixed = {}, {}
        for k in seen:
            logs = [
                math.log(max(experts["average"][k], 1e-9)),
                math.log(max(experts["weighted"][k], 1e-9)),
                opinions.translation[i][k],
                opinions.combination[i][k],
            ]
            logs = [min(max(value, -12), 0) for value in logs]
            pair = [*logs, experts["average"][k], math.exp(logs[2]), math.exp(logs[3]), experts["votes"][k]]
            values = np.array([*pair, *traits.classes[k], *item])
            n_values = len(values)
            assert n_values + len(panel) == len(names)
            scaled = (values - network.mean[:n_values]) / network.deviation[:n_values]
            of_classes = [name.startswith("class") for name in names[:n_values]]
            features[k] = np.array([*np.where(of_classes, np.clip(scaled, -5, 5), scaled), *panel])
            mixed[k] = [*logs, *traits.classes[k][:n_shares]]
        assert n_logs == len(logs)
        mass = sum(average[k] for k in seen)
        answers = []
        for net in range(len(network.first)):
            hidden = {k: np.maximum(features[k] @ network.first[net] + network.first_bias[net], 0) for k in seen}
            among = sum(hidden.values()) / len(hidden)
            deep = {
                k: np.maximum(np.concatenate([hidden[k], among]) @ network.second[net] + network.second_bias[net], 0)
                for k in seen
            }
            out = {k: deep[k] @ network.last[net] + network.last_bias[net] for k in seen}
            mixture = network.mixture[net] + small[net][:-1]
            scores = {k: out[k][0] + float(np.dot(mixed[k], mixture)) + by_members[net][i][k] for k in seen}
            opening = sum(out[k][1] for k in seen) / len(out) + small[net][-1] + 1
            gate = 0.98 * trust / (1 + math.exp(-opening))
            top = max(scores.values())
            total = sum(math.exp(score - top) for score in scores.values())
            answer = average.copy()
            for k in seen:
                answer[k] = gate * mass * math.exp(scores[k] - top) / total + (1 - gate) * average[k]
            answers.append(answer)
        result[i] = sum(answers) / len(answers)
        if n_classes > most:  # classes that tie with the last candidate share alike
            tied = [k for k in range(n_classes) if abs(ranked[k] - ranked[seen[-1]]) <= 1e-7]
            result[i, tied] = sum(result[i, tied]) / len(tied)
    return result / result.sum(axis=1, keepdims=True)
