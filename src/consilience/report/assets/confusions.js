"use strict";

// How members err: a matrix each where classes are few, else lists of the worst confusions.

/** Colour grows faster for small rates, so that a mistake of a few percent shows beside a diagonal of ninety. */
const rateShade = (rate) => Math.max(0, Math.min(1, rate)) ** 0.7;

const FIRST_DRAWN = 5, MOST_WRITTEN = 10;

function confusions() {
  const { measured, matrices, together, members: drawn } = report.confusion;
  const how = measured ? "counted on the items with a label" : "estimated without labels";
  const order = report.opening.ranking.filter((place) => drawn.some((entry) => entry.member === place));
  const figures = order.map((place) => confusionFigure(drawn.find((entry) => entry.member === place), memberName(place)));
  const text = matrices
    ? `Of the items that truly are of a row’s class, how many percent are called what the column says; ${how}.`
    : `With ${count(report.sizes.classes)} classes a matrix would be unreadable. These are the confusions that happen most often; ${how}.`;
  const all = matrices ? confusionFigure(together, "All members together", "together") : worstTable(together.pairs);
  return section("confusion", "Confusions",
    prose(text + shownMembers(drawn.length)),
    matrices ? make("div", { class: "legends" }, legend(["right"], "0%", "100%", "said rightly", rateShade), legend(["wrong"], "0%", "100%", "said wrongly", rateShade)) : all,
    figures.length > FIRST_DRAWN + 1 ? memberChoice(order, figures) : null,
    make("div", { class: "figures" }, matrices ? all : null, figures));
}

/** A search box that shows the figures of some members; the best few at first. */
function memberChoice(order, figures) {
  const text = make("input", { type: "search", id: "confusion-text", placeholder: "member", autocomplete: "off", spellcheck: "false" });
  const button = make("button", { type: "button", class: "pill" });
  const found = make("span", { class: "found", role: "status", "aria-live": "polite" });
  let isAll = false;
  const apply = () => {
    const words = text.value.trim().toLowerCase();
    figures.forEach((figure, at) => {
      figure.hidden = words ? !memberName(order[at]).toLowerCase().includes(words) : !isAll && at >= FIRST_DRAWN;
    });
    const n = figures.filter((figure) => !figure.hidden).length;
    found.textContent = `${n} of ${counted(figures.length, "member")}`;
    button.textContent = isAll ? "Show fewer" : "Show all";
  };
  text.addEventListener("input", apply);
  button.addEventListener("click", () => { isAll = !isAll; apply(); });
  apply();
  return filters("Choose members", make("label", { for: "confusion-text" }, "Find", text), button, found);
}

function confusionFigure({ rates, pairs }, name, kind = "") {
  const classes = report.classes;
  const list = pairs.length ? make("ol", { class: "pairs" }, pairs.slice(0, 8).map(([truth, said, rate]) => make("li", {},
    make("span", { title: `truly ${className(truth)}, called ${className(said)}` }, `${className(truth)} → ${className(said)}`), make("span", { class: "number" }, percentOf(rate))))) : make("p", { class: "under" }, "No mistakes found.");
  const map = rates ? heatMap({
    values: rates, rows: classes, columns: classes, rowTitle: "truly", columnTitle: "says", label: `Confusion matrix: ${name}`,
    kind: (i, j) => (i === j ? "right" : "wrong"), shade: rateShade,
    write: classes.length <= MOST_WRITTEN ? (rate) => (isNumber(rate) && rate >= 0.005 ? `${Math.round(100 * rate)}` : "") : null,
    tell: (i, j) => `said ${classes[j]} for a true ${classes[i]}: ${percentOf(rates[i][j])}${i === j ? ", rightly" : ""}`,
  }) : null;
  return make("figure", { class: `card ${kind}` }, make("figcaption", { title: name }, name), map,
    map ? make("details", {}, make("summary", {}, "Most frequent mistakes"), list) : list);
}

/** The worst confusions of all members together, with bars. */
function worstTable(pairs) {
  const most = Math.max(1, ...pairs.map((pair) => pair[3]));
  const columns = [
    { title: "Truly", value: (r) => className(r[0]), cell: (r) => className(r[0]), className: "name" },
    { title: "Called", value: (r) => className(r[1]), cell: (r) => className(r[1]) },
    { title: "Answers", numeric: true, descending: true, value: (r) => r[3], cell: (r) => [make("span", {}, r[3].toFixed(report.confusion.measured ? 0 : 1)), bar(r[3] / most, "wrong")], hint: "How many answers of all members together." },
    { title: "Of the class", numeric: true, descending: true, value: (r) => r[2], cell: (r) => percentOf(r[2]), hint: "The share of all answers to items of the true class." },
  ];
  const table = sortableTable({ columns, rows: pairs, caption: "Worst confusions of all members together", className: "worst" });
  return make("div", { class: "worst-region" }, make("h3", {}, "All members together"), scrolling(table.element, "Worst confusions of all members together"));
}
