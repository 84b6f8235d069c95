"use strict";

// The first screen: the verdict, the change and the worry, who is right how often, three numbers, warnings, what labels gained.

const report = JSON.parse(document.getElementById("payload").textContent);
const memberName = (place) => report.member_names[place];
const className = (place) => report.classes[place];
const hasLabels = report.sizes.labelled > 0;
/** Labels that the fit was given measure the members too, who have not seen them. */
const areMeasured = report.sizes.measured > 0;

/** What an estimate is worth, as `benchmarks.quality.estimates` measures it. */
const ESTIMATED = "Estimated without labels. On kinds of data that nothing was fitted to, such estimates were off by 10 points in the mean, and nine of ten whiskers or more held the true share.";

/** "Shown are 12 of 10,000 members: …" where not all are, else nothing. */
function shownMembers(n) {
  const total = report.sizes.members;
  if (n >= total) return "";
  return ` Shown are ${n} of ${counted(total, "member")}: a third each with the most answers, the best and the worst.`;
}

function masthead(sections) {
  const { members, items, classes } = report.sizes;
  const facts = [counted(members, "member"), counted(items, "item"), counted(classes, "class"), `fused by ${report.made.method}`, report.made.date];
  return [
    make("div", { class: "headline" }, make("h1", {}, report.title), themeButton()),
    make("p", { class: "facts" }, facts.join(" · ")),
    make("nav", { "aria-label": "Sections" }, sections.map(([id, name]) => make("a", { href: `#${id}` }, name))),
  ];
}

function themeButton() {
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ?? (window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const button = make("button", { type: "button", class: "pill theme" });
  const label = () => { button.textContent = isDark() ? "Light" : "Dark"; button.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`); };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    label();
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
  label();
  return button;
}

function opening() {
  return make("section", { id: "verdict", "aria-label": "Verdict" },
    make("div", { class: "sentence" }, report.opening.sentences.map((words) => make("p", {}, words))),
    report.opening.hint ? make("p", { class: "hint" }, report.opening.hint) : null,
    make("div", { class: "opening" }, ranking(), make("div", { class: "numbers" }, numbers())),
    make("ul", { class: "verdict" }, report.opening.verdict.map((words) => make("li", {}, words))),
    warnings(), gain());
}

// ---- who is right how often ----

const MOST_RANKED = 12, FIRST_RANKED = 7, LAST_RANKED = 3;

function ranking() {
  const { fused, average, ranking: order } = report.opening;
  const rows = new Map(report.members.rows.map((row) => [row.member, row]));
  const members = order.map((place) => rankedBar(memberName(place), rows.get(place), "member"));
  const longest = Math.max(...order.map((place) => Array.from(memberName(place)).length), 13);
  const list = make("ol", { class: isNumber(fused.value) ? "ranking" : "ranking unknown", "--fused": share(fused.value), "--longest": `${longest}ch` },
    rankedBar("Fused answer", fused, "fused"), rankedBar("Plain average", average, "average"),
    make("li", { class: "divider", "aria-hidden": "true" }), members, make("li", { class: "axis", "aria-hidden": "true" }, axis()));
  return make("figure", { class: "card ranked" },
    make("figcaption", {}, areMeasured ? "How often each one is right" : "Where each one may lie: overlapping whiskers tell nobody apart"),
    list, foldRanking(members), rankingKey([fused, average, ...rows.values()]));
}

const warningFlag = () => make("span", { class: "flag", title: "There is a warning about this member." }, "\u00a0!");

const share = (value) => `${100 * (value ?? 0)}%`;

function axis() {
  return make("span", { class: "track ticks" }, [0, 0.25, 0.5, 0.75, 1].map((at) => make("span", { class: "mark-at", "--at": share(at) }, percentOf(at))));
}

/** A row of the chart. Of somebody with very few answers, and of whole answers without labels, there is only the interval. */
function rankedBar(name, { value, low, high, measured, answers, warned }, kind) {
  const isKnown = isNumber(low), isFew = isKnown && !isNumber(value);
  const between = `${percentOf(low)} to ${percentOf(high)}`;
  const words = !isKnown ? "no answer" : measured && !isFew ? percentOf(value, 1) : between;
  const beside = !isNumber(value) ? null : measured ? between : `≈ ${percentOf(value)}`;
  const how = measured ? "measured" : "estimated";
  const line = make("li", { class: `${kind} ${how}` },
    make("span", { class: "who", title: name }, name, warned ? warningFlag() : null),
    make("span", { class: "track", "aria-hidden": "true" },
      isNumber(value) ? make("span", { class: "level", "--to": share(value) }) : null,
      isKnown ? make("span", { class: "whisker", "--from": share(low), "--to": share(high) }) : null),
    make("span", { class: "value" }, words, beside ? make("span", { class: "between" }, beside) : null));
  const few = isFew && answers !== undefined ? ` (${counted(answers, "answer")})` : "";
  const told = isKnown ? `${name}: ${[`${words}${few}`, beside, how].filter(Boolean).join(", ")}` : `${name}: no answer`;
  line.addEventListener("pointermove", (event) => tooltip.show([told], event.clientX, event.clientY));
  line.addEventListener("pointerleave", () => tooltip.hide());
  return line;
}

/** With many members, hide those in the middle behind a button. */
function foldRanking(members) {
  if (members.length <= MOST_RANKED) return null;
  const middle = members.slice(FIRST_RANKED, -LAST_RANKED);
  const more = `Show the ${middle.length} between the best ${FIRST_RANKED} and the last ${LAST_RANKED}`;
  const button = make("button", { type: "button", class: "pill fold", "aria-expanded": "false" }, more);
  const gap = make("li", { class: "gap", "aria-hidden": "true" }, "⋮");
  middle[0].before(gap);
  const fold = (isFolded) => {
    for (const row of middle) row.hidden = isFolded;
    gap.hidden = !isFolded;
    button.setAttribute("aria-expanded", String(!isFolded));
    button.textContent = isFolded ? more : "Show fewer";
  };
  button.addEventListener("click", () => fold(button.getAttribute("aria-expanded") === "true"));
  fold(true);
  return button;
}

function rankingKey(entries) {
  const known = entries.filter((entry) => isNumber(entry.low));
  const kinds = [["measured", "measured with labels"], ["estimated", "estimated without labels"]]
    .filter(([kind]) => known.some((entry) => (kind === "measured") === entry.measured));
  const { measured: labelled, items } = report.sizes;
  const words = !areMeasured ? ESTIMATED
    : labelled === items ? `Measured on all ${counted(items, "item")}. The whiskers show where the share would be, nine times of ten, on other items of the same kind.`
    : `Measured on ${counted(labelled, "item")} with a label; the whiskers hold the share on all ${count(items)} nine times of ten, if the labelled ones were drawn at random.${kinds.length > 1 ? " Who has fewer than 10 labelled answers is estimated." : ""}`;
  const taught = report.opening.gain ? " The fused answer is measured only where it did not see the label." : "";
  return make("div", { class: "key" },
    kinds.map(([kind, label]) => make("span", {}, make("i", { class: `swatch ${kind}`, "aria-hidden": "true" }), label)),
    make("span", {}, make("i", { class: "swatch reach", "aria-hidden": "true" }), "90% interval"),
    isNumber(report.opening.fused.value) ? make("span", {}, make("i", { class: "swatch line", "aria-hidden": "true" }), "the fused answer") : null,
    entries.some((entry) => entry.warned) ? make("span", {}, make("span", { class: "flag" }, "!"), "there is a warning about this member") : null,
    make("p", {}, words, taught, shownMembers(report.members.rows.length)));
}

// ---- three numbers ----

function numbers() {
  const { fused, average, changed, unsure, unsure_below: below, answered } = report.opening;
  const between = ({ low, high }) => `${percentOf(low)} to ${percentOf(high)}`;
  const points = fused.measured && average.measured ? `From ${between(fused)}; the plain average ${percentOf(average.value, 1)}, ${between(average)}.`
    : `The interval holds the true share in nine of ten panels; the plain average’s is ${between(average)}. Only labels tell more.`;
  const ties = changed.ties ? ` ${count(changed.ties)} of them are ties of the average.` : "";
  const became = changed.helped === null ? `${percentOf(changed.count / answered, 1)} of the items are answered differently from the plain average.${ties}`
    : `${percentOf(changed.count / answered, 1)} of the items.${ties} With labels: ${count(changed.helped)} made right, ${count(changed.hurt)} made wrong${changed.neither ? `, ${count(changed.neither)} wrong both times` : ""}.`;
  return [
    number(`Fused answer right (${fused.measured ? "measured" : "estimated"})`, fused.measured ? percentOf(fused.value, 1) : between(fused), points),
    number("Answers that fusing changed", count(changed.count), became),
    number("Unsure answers", count(unsure), [`${percentOf(unsure / answered, 1)} of the fused answers are less than ${percentOf(below)} sure. `, make("a", { href: "#items" }, "Look at these first.")]),
  ];
}

const number = (label, value, below) => make("div", { class: "number-card card" },
  make("div", { class: "number-label" }, label), make("div", { class: "number-value" }, value), make("div", { class: "number-below" }, below));

// ---- warnings, and what labels gained ----

const MOST_FINDINGS = 3;

function warnings() {
  const found = report.opening.warnings;
  if (!found.length) return make("p", { class: "note calm" }, areMeasured ? "No warning is raised." : "No warning is raised. That does not mean that the answers are right: no warning can see errors that all members share.");
  return make("div", { class: "note alert", role: "note", "aria-label": "Warnings" },
    make("h2", {}, found.length === 1 ? "What to worry about" : "What to worry about, the most serious first"),
    found.map(({ findings, advice }) => {
      const lines = findings.map(([finding, because]) => make("li", {}, make("b", {}, sentenceCase(finding)), because ? `: ${because}.` : "."));
      const rest = lines.slice(MOST_FINDINGS);
      return make("div", { class: "warning" }, make("ul", {}, lines.slice(0, MOST_FINDINGS)),
        rest.length ? make("details", {}, make("summary", {}, `and ${rest.length} more of the kind`), make("ul", {}, rest)) : null,
        make("p", { class: "advice" }, make("b", {}, "What to do: "), advice));
    }));
}

const sentenceCase = (words) => words.charAt(0).toUpperCase() + words.slice(1);

function gain() {
  const found = report.opening.gain;
  if (!found) return null;
  const { labels, before, after, difference, changed, outlook } = found;
  const points = difference && difference.map((value) => signed(100 * value, 1));
  return make("div", { class: "note gain", role: "note", "aria-label": "What the known labels gained" },
    make("h2", {}, `What the ${counted(labels, "known label")} gained`),
    make("p", {}, points ? `Without them the fused answer is right on ${percentOf(before, 1)} of the labelled items, with them on ${percentOf(after, 1)}: ${points[0]} points (between ${points[1]} and ${points[2]}). Each of these items was answered without its own label. ` : "What they gained could not be estimated. ",
      changed === null ? "" : `The labels changed ${count(changed)} of the ${count(report.opening.answered)} other answers. `,
      outlook ? `More labels? ${sentenceCase(outlook)}.` : ""));
}
