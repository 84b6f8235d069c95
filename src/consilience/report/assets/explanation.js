"use strict";

// The explanation of one item: what was answered, what tipped it, and who said what.

function explainItem(panel, row, goBack) {
  const { why } = row;
  const back = make("button", { type: "button", class: "pill back" }, "Back to the list");
  back.addEventListener("click", goBack);
  panel.onkeydown = (event) => { if (event.key === "Escape") goBack(); };
  const [winner, rival] = [className(why.winner), className(why.rival)];
  panel.replaceChildren(
    make("div", { class: "explanation-head" }, make("h3", {}, make("span", { class: "quiet" }, "Item "), row.name), back),
    make("p", { class: "verdict-line" }, itemSentence(row)), posteriorTable(row),
    make("h4", {}, "What tipped ", make("b", {}, winner), " over ", make("b", {}, rival)),
    waterfall({
      winner, rival, start: why.prior, shares: why.shares, end: why.log_odds, others: why.others, othersWeight: why.others_weight,
      steps: why.members.map((part) => ({ name: memberName(part.member), weight: part.weight, said: `${className(part.vote)}${isNumber(part.sure) && part.sure < 1 ? ` (${percentOf(part.sure)})` : ""}` })),
    }),
    make("p", { class: "under" }, `Each answer multiplies (×) or divides (÷) the odds of ${winner} against ${rival}. The axis is the chance of ${winner} if only these two were possible.`),
    make("h4", {}, "Who said what"), ...saidTable(row));
}

function itemSentence(row) {
  const truth = row.given ? " Its label was given to the fit." : row.truth < 0 ? "" : row.chosen === row.truth ? " The fused answer is right." : row.average === row.truth ? " The average is right." : ` The truth is ${className(row.truth)}.`;
  return isChanged(row)
    ? `The fused answer is ${className(row.chosen)} (${percentOf(row.confidence)} sure), the plain average says ${className(row.average)} (${percentOf(row.average_confidence)}).${truth}`
    : `The fused answer is ${className(row.chosen)} (${percentOf(row.confidence)} sure), and so is the plain average’s (${percentOf(row.average_confidence)}).${truth}`;
}

const MOST_BARS = 4;

function posteriorTable(row) {
  const { why } = row;
  const isAll = why.classes.length === report.classes.length;
  const cell = (value, kind) => make("td", { class: "pair" }, bar(value, kind), make("span", {}, percentOf(value)));
  const order = why.classes.map((place, at) => at).sort((a, b) => why.consensus[b] - why.consensus[a] || why.average[b] - why.average[a]);
  const contenders = [why.winner, why.rival, row.truth];
  const telling = order.filter((at, rank) => rank < MOST_BARS || contenders.includes(why.classes[at]));
  if (report.ordered) telling.sort((a, b) => why.classes[a] - why.classes[b]);
  const rest = (values) => Math.max(0, 1 - telling.reduce((total, at) => total + values[at], 0));
  const hasRest = telling.length < why.classes.length || !isAll;
  return make("table", { class: "posterior" },
    make("thead", {}, make("tr", {}, ["Class", "Fused answer", "Plain average"].map((title) => make("th", { scope: "col" }, title)))),
    make("tbody", {}, telling.map((at) => make("tr", {}, make("th", { scope: "row", title: className(why.classes[at]) }, className(why.classes[at]),
      why.classes[at] === row.truth ? make("span", { class: "chip truth" }, "truth") : null), cell(why.consensus[at], "strong"), cell(why.average[at], "faint"))),
    hasRest ? make("tr", { class: "quiet" }, make("th", { scope: "row" }, "all others"), cell(rest(why.consensus), "strong"), cell(rest(why.average), "faint")) : null));
}

function saidTable({ why, truth }) {
  const mark = (place) => (place === why.winner || place === why.rival ? "contender" : null);
  const table = make("table", { class: "said" },
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Member"),
      make("th", { scope: "col", class: "believed", title: "The probability that the fused answer gives to what this member said." }, "believed"),
      why.classes.map((place) => make("th", { scope: "col", class: mark(place), title: className(place) + (place === truth ? " (truth)" : "") }, shortened(className(place), 10))))),
    make("tbody", {}, why.members.map((part) => make("tr", {}, make("th", { scope: "row", title: memberName(part.member) }, memberName(part.member)),
      make("td", { class: `believed${part.belief < 0.1 ? " doubted" : ""}` }, percentOf(part.belief)),
      part.said.map((value) => make("td", { class: `cell rate ${rateShade(value ?? 0) > 0.62 ? "on-strong" : ""}`, "--shade": `${100 * rateShade(value ?? 0)}%` }, percentOf(value).replace("%", "")))))));
  const notes = [
    why.classes.length < report.classes.length ? `the ${why.classes.length} classes that matter here` : null,
    why.silent ? `${counted(why.silent, "member")} did not answer` : null,
    why.others ? `${counted(why.others, "member")} with less influence not shown` : null,
  ].filter(Boolean).join("; ");
  return [scrolling(table, "Probabilities in percent that each member gave"),
    make("p", { class: "under" }, `Probabilities in %${notes ? `; ${notes}` : ""}. “Believed” is how probable the fused answer finds what the member said: a low number marks an answer worth a second look.`)];
}
