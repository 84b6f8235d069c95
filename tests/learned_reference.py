"""What `Consensus` is made of, as slow loops over items, members and classes: experts, survey, traits and network."""

from __future__ import annotations

import math

import numpy as np

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
    """Who is sure of every answer."""
    sure = [[max(row) for n, _, row in answers if n == m] for m in range(n_members)]
    return [not given or sum(given) / len(given) >= 1 - 1e-6 for given in sure]


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


def survey(average, votes, translated, n_answers):
    """Sums by class and of the panel, by name."""
    n_items, n_classes = average.shape
    shares, n_votes = vote_shares(votes, n_items, n_classes)
    by_class = {
        name: np.zeros(n_classes)
        for name in ("average", "votes", "translation", "first choices", "certainty", "agreeing", "meeting")
    }
    names = (
        "items",
        "answers",
        "entropy",
        "top",
        "top of votes",
        "top of translation",
        "votes agree",
        "translation agrees",
    )
    totals = dict.fromkeys(names, 0.0)
    for i in range(n_items):
        first = first_choices(average[i])
        experts = {
            "average": average[i],
            "votes": shares[i],
            "translation": np.exp(translated[i]),
        }
        for name, row in experts.items():
            by_class[name] += row
        by_class["first choices"] += first
        by_class["certainty"] += max(average[i]) * first
        for k in range(n_classes):
            mine = sum(1 for _, item, label in votes if item == i and label == k)
            by_class["agreeing"][k] += mine * (mine - 1)
            by_class["meeting"][k] += mine * (n_votes[i] - 1)
        totals["items"] += 1
        totals["answers"] += n_answers[i]
        totals["entropy"] += entropy(average[i])
        totals["top"] += max(average[i])
        for name, verb in (("votes", "agree"), ("translation", "agrees")):
            totals[f"top of {name}"] += max(experts[name])
            totals[f"{name} {verb}"] += float(first @ first_choices(experts[name]))
    return by_class, totals


def forward(network, traits, opinions, trust, names, most=24):
    """The network's answer (items, classes), feature by feature."""
    n_items, n_classes = opinions.average.shape
    n_logs, n_shares = 3, 4
    result = np.zeros((n_items, n_classes))
    for i in range(n_items):
        average = opinions.average[i] / opinions.average[i].sum()
        experts = [
            opinions.average[i],
            opinions.weighted[i],
            np.exp(opinions.translation[i]),
            opinions.votes[i],
        ]
        best = [max(row[k] for row in experts) for k in range(n_classes)]
        order = sorted(
            range(n_classes),
            key=lambda k: -math.log(best[k]) - 1e-3 * opinions.translation[i][k],
        )
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
                math.log(max(experts[0][k], 1e-9)),
                math.log(max(experts[1][k], 1e-9)),
                opinions.translation[i][k],
            ]
            logs = [min(max(value, -12), 0) for value in logs]
            pair = [*logs, experts[0][k], math.exp(logs[2]), experts[3][k]]
            panel = np.clip(traits.panel, network.lowest, network.highest)
            values = np.array([*pair, *traits.classes[k], *item, *panel])
            assert len(values) == len(names)
            scaled = (values - network.mean) / network.deviation
            is_trait = [name.startswith(("class", "panel")) for name in names]
            features[k] = np.where(is_trait, np.clip(scaled, -5, 5), scaled)
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
            scores = {k: out[k][0] + float(np.dot(mixed[k], network.mixture[net])) for k in seen}
            opening = sum(out[k][1] for k in seen) / len(out) + 1
            gate = 0.98 * trust / (1 + math.exp(-opening))
            top = max(scores.values())
            total = sum(math.exp(score - top) for score in scores.values())
            answer = average.copy()
            for k in seen:
                answer[k] = gate * mass * math.exp(scores[k] - top) / total + (1 - gate) * average[k]
            answers.append(answer)
        result[i] = sum(answers) / len(answers)
    return result / result.sum(axis=1, keepdims=True)
