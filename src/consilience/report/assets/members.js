"use strict";

// The members: a table to search, filter and sort, and how much they agree.

const NAME_SEPARATORS = ["/", ":", "|"];
const MANY_MEMBERS = 10;

function members() {
  const { rows, agreement: sentence } = report.members;
  const isSoft = report.sizes.soft_members > 0;
  const shareCell = (key) => (row) => [make("span", {}, percentOf(row[key])), isNumber(row[key]) ? bar(row[key], "faint") : null];
  const right = (row) => (!isNumber(row.low) ? "–" : [
    row.measured && isNumber(row.value)
      ? make("span", {}, `${percentOf(row.value, 1)} `, make("span", { class: "quiet" }, `${percentOf(row.low)} to ${percentOf(row.high)}`))
      : make("span", {}, `${percentOf(row.low)} to ${percentOf(row.high)} `, isNumber(row.value) ? make("span", { class: "quiet" }, `about ${percentOf(row.value)}`) : null),
    isNumber(row.value) ? bar(row.value, row.measured ? "plain" : "estimated") : null]);
  const differs = (key) => new Set(rows.map((row) => percentOf(row[key]))).size > 1;
  const columns = [
    { title: "Member", value: (r) => memberName(r.member), cell: (r) => [memberName(r.member), r.warned ? warningFlag() : null], className: "name" },
    { title: areMeasured ? "Right" : "Right, estimated", numeric: true, descending: true, value: (r) => r.value, cell: right, hint: areMeasured ? "Measured on the items with a label, with a 90% interval; estimated where labels are too few." : ESTIMATED },
    hasLabels ? { title: "Believed", spoken: "How probable its answers are to the fused answer", numeric: true, descending: true, value: (r) => r.quality, cell: shareCell("quality"), hint: "The mean probability that the fused answer gives to what this member said." } : null,
    { title: "Coverage", numeric: true, descending: true, value: (r) => r.answers, cell: (r) => [percentOf(r.coverage), make("span", { class: "below quiet" }, counted(r.answers, "answer"))], hint: "The share of all items that it answered." },
    differs("overlap") ? { title: "Overlap", numeric: true, descending: true, value: (r) => r.overlap, cell: (r) => percentOf(r.overlap), hint: "The share of all items that it and another member answered." } : null,
    differs("conflict") ? { title: "Conflict", numeric: true, descending: true, value: (r) => r.conflict, cell: (r) => percentOf(r.conflict), hint: "The share of all items that it answered and another member answered differently." } : null,
    { title: "Influence", numeric: true, descending: true, value: (r) => r.influence, cell: shareCell("influence"), hint: "Its mean share of what moves the fused answers, as the explanation of an item shows it: over 20 items, or fewer where explanations cost much." },
    { title: "As fused", spoken: "How often the fused answer is the same", numeric: true, descending: true, value: (r) => r.agreement, cell: shareCell("agreement"), hint: "The share of its answers that are also the fused answer." },
    { title: "Beyond chance", spoken: "Agreement with the other members beyond chance", numeric: true, descending: true, value: (r) => r.kappa, cell: (r) => decimal(r.kappa, 2).replace("-", "−"), hint: "How much it agrees with the other members beyond chance (Cohen’s kappa): 0 for blind answers, 1 if it always says what they say." },
    isSoft ? { title: "Sure", numeric: true, descending: true, value: (r) => r.confidence, cell: (r) => [percentOf(r.confidence), isNumber(r.ece) ? make("span", { class: "below quiet" }, `off by ${(100 * r.ece).toFixed(1)}`) : null], hint: `The mean probability that it gives to its own answers${hasLabels ? ", and its calibration error in points: how far that is from how often it is right" : ""}.` } : null,
    { title: "Against most others", numeric: true, descending: true, value: (r) => r.dissents, cell: (r) => (r.dissents ? [make("span", {}, count(r.dissents)), make("span", { class: "below quiet" }, `upheld ${percentOf(r["dissents won"])}`)] : "0"), hint: "How many of its answers contradict what most others said, and how often the fused answer then sides with it." },
    rows.some((r) => r.pairs) ? { title: "Consistent", spoken: "How often it repeats its answer", numeric: true, descending: true, value: (r) => r.consistency, cell: (r) => (r.pairs ? [percentOf(r.consistency), make("span", { class: "below quiet" }, counted(r.pairs, "pair"))] : "–"), hint: "Of the pairs of its answers to the same item, the share that are the same." } : null,
    rows.some((r) => isNumber(r.first)) ? { title: "First", spoken: "Bias for the first position", numeric: true, descending: true, value: (r) => r.first, cell: (r) => (isNumber(r.first) ? [percentOf(r.first), make("span", { class: "below quiet" }, `${percentOf(r["first from"])} to ${percentOf(r["first to"])}`)] : "–"), hint: "Of the items that it decided by the position when the two options were swapped, the share in which it chose the first position. Half is no bias." } : null,
    { title: "Confuses most", value: (r) => confusedMost(r), cell: (r) => (r.confuses.length ? r.confuses.map((pair) => make("span", { class: "clip wide", title: confusion(pair) }, confusion(pair))) : "–"), className: "words", hint: "true → said, with the share of the true class" },
  ].filter(Boolean);
  const table = sortableTable({ columns, rows: rankedRows(rows), caption: "Members", className: "report-card" });
  const region = scrolling(table.element, "Table of members", "tall");
  return section("members", "Members",
    prose(`${areMeasured ? "The best first." : "No labels were given, so how often a member is right is an estimate: the order tells little where the intervals overlap."} Point at a heading to read what it means.${shownMembers(rows.length)}`),
    rows.length > MANY_MEMBERS ? memberFilters(rankedRows(rows), table) : null, region, agreement(sentence));
}

const rankedRows = (rows) => report.opening.ranking.map((place) => rows.find((row) => row.member === place));

const confusion = ([truth, said, rate]) => `${className(truth)} → ${className(said)} ${percentOf(rate)}`;
const confusedMost = (row) => row.confuses.map(confusion).join(", ");

/** Groups by what names have before a separator, where that makes fewer groups than half the members; else none. */
function groupsOf(names) {
  for (const separator of NAME_SEPARATORS) {
    if (!names.every((name) => name.includes(separator))) continue;
    const groups = [...new Set(names.map((name) => name.split(separator)[0]))];
    if (groups.length > 1 && groups.length <= names.length / 2) return { groups: groups.sort(), separator };
  }
  return null;
}

function memberFilters(rows, table) {
  const text = make("input", { type: "search", id: "member-text", placeholder: "member or class", autocomplete: "off", spellcheck: "false" });
  const grouped = groupsOf(rows.map((row) => memberName(row.member)));
  const group = make("select", { id: "member-group" }, make("option", { value: "" }, "all"), grouped ? grouped.groups.map((name) => make("option", { value: name }, shortened(name, 40))) : null);
  const warned = make("input", { type: "checkbox", id: "member-warned" });
  const found = make("span", { class: "found", role: "status", "aria-live": "polite" });
  const apply = () => {
    const words = text.value.trim().toLowerCase();
    const some = rows.filter((row) => {
      const name = memberName(row.member);
      return (!words || `${name} ${confusedMost(row)}`.toLowerCase().includes(words))
        && (!group.value || name.split(grouped.separator)[0] === group.value) && (!warned.checked || row.warned);
    });
    table.show(some);
    found.textContent = some.length === rows.length ? counted(rows.length, "member") : `${count(some.length)} of ${counted(rows.length, "member")}`;
  };
  for (const control of [text, group, warned]) control.addEventListener("input", apply);
  apply();
  return filters("Filter the members",
    make("label", { for: "member-text" }, "Find", text),
    grouped ? make("label", { for: "member-group" }, "Group", group) : null,
    rows.some((row) => row.warned) ? make("label", { class: "check", for: "member-warned" }, warned, "with a warning only") : null, found);
}

// ---- who agrees with whom ----

function agreement(sentence) {
  const { members: places, agreement: same, kappa, dependence } = report.agreement;
  if (places.length < 2) return null;
  const names = places.map(memberName);
  const few = names.length <= 10;
  const write = (value) => (isNumber(value) ? value.toFixed(2).replace("-", "−").replace("0.", ".") : "");
  const map = (values, kind, options) => heatMap({ values: values.map((row, i) => row.map((v, j) => (i === j ? null : v))), rows: names, columns: names, kind, ...options });
  const { members: total } = report.sizes;
  const shown = places.length < total ? ` Shown are the ${places.length} of ${count(total)} members with the most answers.` : "";
  return make("details", { class: "more", open: few },
    make("summary", {}, "Who agrees with whom"),
    prose(`${sentence}. Members who make the same mistakes count for less than they seem to: look for dark cells in the second figure.${shown}`),
    make("div", { class: "figures wide" },
      make("figure", { class: "card" }, make("figcaption", {}, "Agreement beyond chance"),
        map(kappa, (i, j) => (kappa[i][j] < 0 ? "minus" : "plus"), { label: "Agreement beyond chance", shade: (v) => Math.abs(v), write: few ? write : null,
          tell: (i, j) => (i === j ? names[i] : `${names[i]} and ${names[j]}: ${decimal(kappa[i][j], 2)} beyond chance, the same answer to ${percentOf(same[i][j])}`) }),
        legend(["minus", "plus"], "−1", "+1", "", Math.abs, [-1, 1])),
      make("figure", { class: "card" }, make("figcaption", {}, "Shared mistakes"),
        map(dependence, (i, j) => (dependence[i][j] < 0 ? "minus" : "plus"), { label: "Agreement that the fused answer does not explain", shade: (v) => Math.abs(v), write: few ? write : null,
          tell: (i, j) => (i === j ? names[i] : `${names[i]} and ${names[j]}: ${signed(dependence[i][j])} beyond what the fused answer explains`) }),
        legend(["minus", "plus"], "−1", "+1", "", Math.abs, [-1, 1]),
        make("p", { class: "under" }, "Agreement that the fused answer does not explain: 0 if two members err independently, 1 for copies."))));
}
