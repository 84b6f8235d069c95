"use strict";

// The sections of the page above the items. Each takes the payload and returns an element.

const report = JSON.parse(document.getElementById("payload").textContent);
const memberName = (place) => report.member_names[place];
const className = (place) => report.classes[place];
const hasLabels = report.sizes.labelled > 0;

/** What an estimate is, and how far off such estimates are on families of panels that nothing was fitted to. */
const ESTIMATED = "Estimated without labels: off by 9 points in the mean on panels of kinds it has not seen; the interval holds the true share in nine of ten.";

const interval = (low, high) => `${percentOf(low)} and ${percentOf(high)}`;

/** "Shown are 12 of 10,000 members: …" where not all are, else nothing. */
function shownMembers(n, total) {
  if (n >= total) return "";
  return ` Shown are ${n} of ${counted(total, "member")}: a third each with the most answers, estimated best and estimated worst.`;
}

// ---- the head: what was fused, and how it went ----

function masthead() {
  const { members, soft_members: soft, items, classes, answers, labelled } = report.sizes;
  const kind = soft === members ? "probabilities" : soft === 0 ? "labels" : `probabilities of ${soft}, labels of ${members - soft}`;
  const facts = [
    ["members", count(members)], ["items", count(items)], ["classes", count(classes)],
    ["answers", `${count(answers)} (${kind})`], ["known truths", labelled ? count(labelled) : "none"],
    ...(report.method.labels ? [["labels learned from", count(report.method.labels)]] : []),
  ];
  return [
    make("div", { class: "headline" }, make("h1", {}, report.title), themeButton()),
    make("dl", { class: "facts" },
      facts.map(([term, value]) => make("div", {}, make("dt", {}, term), make("dd", {}, value))),
      make("div", { class: "wide" }, make("dt", {}, "fused by"), make("dd", {}, make("code", {}, report.method.settings),
        report.method.iterations ? ` in ${counted(report.method.iterations, "iteration")}` : ""))),
    make("nav", { "aria-label": "Sections" }, SECTIONS.map(([id, name]) => make("a", { href: `#${id}` }, name))),
  ];
}

function themeButton() {
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ?? (window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const button = make("button", { type: "button", class: "theme" });
  const label = () => { button.textContent = isDark() ? "Light" : "Dark"; button.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`); };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    label();
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
  label();
  return button;
}

function overview() {
  const { summary, sizes } = report;
  const share = summary.changed / sizes.items;
  const { "fused answer": fused, average } = summary.estimated;
  const tiles = [
    tile("Estimated accuracy", percentOf(fused[0]), `between ${interval(fused[1], fused[2])}; the average: ${percentOf(average[0])}, between ${interval(average[1], average[2])}`,
      `How often the fused answer is right. ${ESTIMATED}`),
    tile("Consensus confidence", percentOf(summary.confidence, 1), `the average: ${percentOf(summary.average_confidence, 1)}`,
      "The mean probability of the answers: the accuracy the consensus claims."),
    tile("Changed against averaging", count(summary.changed), `${percentOf(share, 1)} of ${counted(sizes.items, "item")}`,
      "Items that the consensus answers differently from the plain average."),
    tile("Agreement beyond chance", decimal(summary.agreement.alpha[0], 2),
      `Krippendorff’s alpha; Fleiss’ kappa: ${decimal(summary.agreement.fleiss[0], 2)}`, summary.agreement.sentence),
    ...(summary.scores ? scoreTiles(summary) : []),
  ];
  return section("overview", "Overview", make("div", { class: "tiles" }, tiles),
    hasLabels && sizes.labelled < sizes.items ? prose(`Scores are of the ${counted(sizes.labelled, "item")} with a known truth.`) : null,
    warnings());
}

function tile(label, value, below, hint, verdict = null) {
  return make("div", { class: "tile", title: hint }, make("div", { class: "tile-label" }, label), make("div", { class: "tile-value" }, value),
    make("div", { class: "tile-below" }, below, verdict ? [" ", verdict] : null));
}

function scoreTiles({ scores, changes }) {
  const metrics = [
    ["accuracy", "Accuracy", (v) => percentOf(v, 1), 1, "The share of items answered right."],
    ["nll", "NLL", (v) => decimal(v), -1, "Mean negative log-likelihood of the truth, in nats. Lower is better."],
    ["brier", "Brier score", (v) => decimal(v), -1, "Mean squared error of the probabilities, from 0 to 2. Lower is better."],
    ["ece", "Calibration error", (v) => decimal(v), -1, "Expected calibration error in 15 bins: how far confidence is from accuracy. Lower is better."],
  ];
  const tiles = metrics.map(([key, name, show, sign, hint]) => {
    const [own, other] = [scores.consensus[key], scores.average[key]];
    const isSame = show(own) === show(other);
    const isBetter = sign * (own - other) > 0;
    const verdict = make("span", { class: `verdict ${isSame ? "" : isBetter ? "better" : "worse"}` }, isSame ? "the same" : isBetter ? "better" : "worse");
    return tile(name, show(own), `the average: ${show(other)}`, hint, verdict);
  });
  const { helped, hurt, neither } = changes;
  return [...tiles, tile("What changes did", `+${count(helped)} −${count(hurt)}`,
    `made right, made wrong${neither ? `; ${count(neither)} wrong both times` : ""}`, "Of the changed items with a known truth.")];
}

function warnings() {
  if (!report.warnings.length) return make("p", { class: "note calm" }, "The members’ answers give no cause for a warning.");
  return make("div", { class: "note alert", role: "note", "aria-label": "Warnings" },
    make("h3", {}, report.warnings.length === 1 ? "A warning" : `${report.warnings.length} warnings`),
    make("ul", {}, report.warnings.map((sentence) => make("li", {}, sentence))));
}

// ---- confusion matrices ----

/** Colour grows faster for small rates, so that a mistake of a few percent shows beside a diagonal of ninety. */
const rateShade = (rate) => Math.max(0, Math.min(1, rate)) ** 0.7;

function confusion() {
  const { classes, members, total_members: total } = report.confusion;
  const isAll = classes.length === report.sizes.classes;
  const rows = classes.map(className);
  const columns = isAll ? rows : [...rows, "others"];
  const which = isAll ? "" : ` Shown are the ${classes.length} of ${count(report.sizes.classes)} classes that are confused most, all other answers in the last column; the lists below each matrix are of all classes.`;
  return section("confusion", "How each member errs",
    prose(`The member’s votes: of the items that are of the row’s class, the share that it calls what the column says. The true classes are estimated without labels, so that the diagonal agrees with the estimated accuracy.${which}${shownMembers(members.length, total)}`),
    make("div", { class: "legends" }, legend(["right"], "0 %", "100 %", "said rightly", rateShade), legend(["wrong"], "0 %", "100 %", "said wrongly", rateShade)),
    make("div", { class: "figures" }, members.map((entry) => confusionFigure(entry, rows, columns))));
}

function confusionFigure({ member, rates, pairs }, rows, columns) {
  const name = memberName(member);
  const map = heatMap({
    values: rates, rows, columns, rowTitle: "truly", columnTitle: "says",
    label: `Confusion matrix of ${name}`,
    kind: (i, j) => (i === j ? "right" : j < rows.length ? "wrong" : "rest"),
    shade: rateShade,
    tell: (i, j) => (i === j ? `said ${columns[j]} for a true ${rows[i]}: ${percentOf(rates[i][j])}, rightly` : `said ${columns[j]} for a true ${rows[i]}: ${percentOf(rates[i][j])}`),
  });
  return make("figure", { class: "card" }, make("figcaption", { title: name }, name), map,
    pairs.length ? make("details", {}, make("summary", {}, "Most frequent mistakes"),
      make("ol", { class: "pairs" }, pairs.map(([truth, said, rate]) => make("li", {}, `${className(truth)} → ${className(said)}`, make("span", { class: "number" }, percentOf(rate)))))) : null);
}

// ---- the member report card ----

function card() {
  const { rows, total } = report.card;
  const share = (key, digits = 1) => (row) => [make("span", {}, percentOf(row[key], digits)), isNumber(row[key]) ? bar(row[key]) : null];
  const columns = [
    { title: "Member", value: (r) => memberName(r.member), cell: (r) => memberName(r.member), className: "name" },
    { title: "Answers", numeric: true, descending: true, value: (r) => r.answers, cell: (r) => [make("span", {}, count(r.answers)), bar(r.coverage, "faint")], hint: "How many; the bar is the share of all items." },
    { title: "Estimated accuracy", numeric: true, descending: true, value: (r) => r.estimated, cell: (r) => [make("span", {}, isNumber(r.estimated) ? `${percentOf(r.estimated)} (${percentOf(r.from)} to ${percentOf(r.to)})` : "–"), isNumber(r.estimated) ? bar(r.estimated) : null], hint: ESTIMATED },
    hasLabels ? { title: "Measured accuracy", numeric: true, descending: true, value: (r) => r.accuracy, cell: share("accuracy"), hint: "Where the truth is known." } : null,
    report.sizes.soft_members ? { title: "Confidence", numeric: true, descending: true, value: (r) => r.confidence, cell: share("confidence"), hint: "The mean probability of its answers." } : null,
    hasLabels && report.sizes.soft_members ? { title: "Calibration error", numeric: true, value: (r) => r.ece, cell: (r) => decimal(r.ece), hint: "How far its confidence is from its accuracy." } : null,
    { title: "With consensus", numeric: true, descending: true, value: (r) => r.agreement, cell: share("agreement"), hint: "How often the consensus gives the same answer." },
    { title: "Kappa", spoken: "Agreement with the other members beyond chance", numeric: true, descending: true, value: (r) => r.kappa, cell: (r) => signed(r.kappa), hint: "How much it agrees with the other members beyond chance: 0 for blind answers, and for always saying the frequent class; 1 if it always says what they say." },
    { title: "Dissents", numeric: true, descending: true, value: (r) => r.dissents, cell: (r) => count(r.dissents), hint: "Answers against the plurality of the others." },
    { title: "Dissents won", numeric: true, descending: true, value: (r) => r.won, cell: (r) => (r.dissents ? percentOf(r.won) : "–"), hint: "How often the consensus then sides with it." },
    { title: "Confuses most", value: (r) => r.confuses, cell: (r) => clamped(r.confuses || "–"), className: "words", hint: "true → said" },
  ].filter(Boolean);
  const table = sortableTable({ columns, rows, caption: "Member report card", className: "report-card" });
  return section("members", "Member report card",
    prose(`What the answers alone say of who gave them. ${ESTIMATED}${hasLabels ? " Beside it is what the known truths measure." : ""}${shownMembers(rows.length, total)}`),
    scrolling(table.element, "Member report card", "tall"));
}

// ---- calibration ----

function calibration() {
  const { panels, without_confidence: without, total_members: total } = report.calibration;
  const drawn = panels.filter((panel) => panel.kind === "member").length + without;
  const text = hasLabels
    ? "Confidence (across) against how often the answer is right (up), over a histogram of confidence. Points below the diagonal are too sure, above it not sure enough; larger dots stand for more items."
    : "How sure the answers are. No labels were given, so nobody can say how often these confidences come true; with some known truths there would be reliability diagrams here.";
  const silent = without ? ` ${counted(without, "member")} ${without === 1 ? "gives" : "give"} labels, or nothing, and so no confidence.` : "";
  return section("calibration", hasLabels ? "Calibration" : "Confidence",
    prose(text + silent + shownMembers(drawn, total)),
    make("div", { class: "figures small" }, panels.map(calibrationFigure)));
}

function calibrationFigure(panel) {
  const name = panel.kind === "member" ? memberName(panel.member) : panel.kind === "consensus" ? "Consensus" : "Plain average";
  const words = panel.scores
    ? `${percentOf(panel.confidence, 1)} sure, ${percentOf(panel.scores.accuracy, 1)} right, calibration error ${decimal(panel.scores.ece)}`
    : `${percentOf(panel.confidence, 1)} sure on average`;
  return make("figure", { class: `card ${panel.kind}` }, make("figcaption", { title: name }, name),
    reliabilityDiagram({ ...panel, label: `${name}: ${words}` }), make("p", { class: "under" }, words));
}

// ---- agreement ----

function agreement() {
  const { members, agreement: same, kappa, dependence, total } = report.agreement;
  if (members.length < 2) return section("agreement", "Agreement between members", prose("There is only one member: nobody to agree with."));
  const names = members.map(memberName);
  const few = members.length <= 12;
  const whole = (value) => (isNumber(value) ? (100 * value).toFixed(0) : "");
  const who = members.length < total ? ` Shown are the ${members.length} members with the most answers, of ${count(total)}.` : "";
  return section("agreement", "Agreement between members",
    prose(`${report.summary.agreement.sentence.replace(/\.$/, "")}. Below, of each pair of members: the share of common items with the same label (point at a cell for Cohen’s kappa, the agreement beyond chance), and the correlation of their answers beyond what the consensus explains – near 0 for members who err independently, near 1 for copies.${who}`),
    make("div", { class: "figures" },
      make("figure", { class: "card" }, make("figcaption", {}, "Same label"),
        heatMap({
          values: same, rows: names, columns: names, label: "Share of common items with the same label", kind: () => "rate", shade: (v) => v, write: few ? whole : null,
          tell: (i, j) => (i === j ? names[i] : `${names[i]} and ${names[j]}: ${isNumber(same[i][j]) ? `the same label on ${percentOf(same[i][j])} of common items${isNumber(kappa[i][j]) ? `, Cohen’s kappa ${signed(kappa[i][j])}` : ""}` : "no common items"}`),
        }), legend(["rate"], "0 %", "100 %", "")),
      make("figure", { class: "card" }, make("figcaption", {}, "Dependence"),
        heatMap({
          values: dependence.map((row, i) => row.map((v, j) => (i === j ? null : v))), rows: names, columns: names, label: "Dependence beyond the consensus",
          kind: (i, j) => (dependence[i][j] < 0 ? "minus" : "plus"), shade: (v) => Math.abs(v), write: few ? (v) => (isNumber(v) ? v.toFixed(2).replace("-", "−").replace("0.", ".") : "") : null,
          tell: (i, j) => (i === j ? names[i] : `${names[i]} and ${names[j]}: dependence ${signed(dependence[i][j])}`),
        }), legend(["minus", "plus"], "−1", "+1", "", Math.abs, [-1, 1]))));
}

// ---- what to label ----

function suggestions() {
  const rows = report.suggestions;
  if (!rows.length) return section("suggestions", "Label these first", prose("The truth of every item is known."));
  const columns = [
    { title: "Item", value: (r) => r.name, cell: (r) => make("span", { class: "clip", title: r.name }, r.name), className: "name" },
    { title: "Consensus", value: (r) => className(r.answer), cell: (r) => className(r.answer), className: "class-name" },
    { title: "sure", spoken: "Confidence of the consensus", numeric: true, value: (r) => r.probability, cell: (r) => percentOf(r.probability) },
    { title: "Why", value: (r) => r.why, cell: (r) => clamped(r.why), className: "words" },
  ];
  const table = sortableTable({ columns, rows, caption: "Items to label first", className: "suggestions" });
  return section("suggestions", "Label these first",
    prose("A few labels correct the answers to all items, and tell how good they are. These items are chosen to teach much together: uncertain ones rather than others, but some of every kind. The command consilience suggest gives more, as a table to fill in."),
    scrolling(table.element, "Items to label first"));
}
