"use strict";

// The items: a table to filter, sort and walk through, beside the explanation of the one selected.

const isChanged = (row) => row.chosen !== row.average;
const isWrong = (row) => row.truth >= 0 && row.chosen !== row.truth;

function items() {
  const { rows, total, changed, reasons } = report.items;
  const left = total - rows.length;
  const panel = make("div", { class: "explanation card", id: "explanation", tabindex: "-1", role: "region", "aria-label": "Explanation of the selected item" });
  const list = itemTable(rows, panel);
  const kinds = [
    changed ? `${count(reasons.changed)}${reasons.changed < changed ? ` of the ${count(changed)}` : ""} that the consensus answers differently from the plain average` : null,
    reasons.uncertain ? `${count(reasons.uncertain)} where the consensus leads by least` : null,
    reasons.disputed ? `${count(reasons.disputed)} that members dispute most` : null,
  ].filter(Boolean);
  return section("items", "Items worth a look",
    prose(`${left ? `Shown are ${count(rows.length)} of ${counted(total, "item")}` : `All ${counted(total, "item")}`}: ${kinds.join("; ")}. ${changed ? "" : "No item is answered differently from the plain average. "}Select one to see what tipped it.`),
    list.filters, make("div", { class: "split" }, make("div", { class: "list" }, list.region), panel));
}

function itemTable(rows, panel) {
  const answer = (place, mark) => [make("span", { class: mark ? `mark ${mark}` : null }, className(place))];
  const columns = [
    { title: "Item", value: (r) => r.name, cell: (r) => make("span", { class: "clip", title: r.name }, r.name), className: "name" },
    { title: "Consensus", value: (r) => className(r.chosen), cell: (r) => answer(r.chosen, r.truth < 0 ? null : r.truth === r.chosen ? "ok" : "bad"), className: "class-name" },
    { title: "sure", spoken: "Confidence of the consensus", numeric: true, descending: true, value: (r) => r.confidence, cell: (r) => percentOf(r.confidence), hint: "The consensus’ probability of its answer." },
    { title: "Average", value: (r) => className(r.average), cell: (r) => answer(r.average, r.truth < 0 ? null : r.truth === r.average ? "ok" : "bad"), className: "class-name" },
    { title: "sure", spoken: "Confidence of the average", className: "optional", numeric: true, descending: true, value: (r) => r.average_confidence, cell: (r) => percentOf(r.average_confidence), hint: "The average’s probability of its answer." },
    hasLabels ? { title: "Truth", value: (r) => (r.truth < 0 ? null : className(r.truth)), cell: (r) => (r.truth < 0 ? "–" : className(r.truth)), className: "class-name" } : null,
    { title: "Against", numeric: true, descending: true, value: (r) => r.against / r.answers, cell: (r) => `${r.against}/${r.answers}`, hint: "Answers that contradict the consensus." },
    { title: "Why shown", className: "optional", value: (r) => r.reason, cell: (r) => make("span", { class: `chip ${r.reason}` }, r.reason) },
  ].filter(Boolean);
  const places = new Map(rows.map((row, place) => [String(place), row]));
  const placeOf = new Map(rows.map((row, place) => [row, String(place)]));
  let selected = rows[0];
  const table = sortableTable({
    columns, rows, caption: "Items worth a look", className: "items",
    rowAttributes: (row) => ({ "data-place": placeOf.get(row), tabindex: row === selected ? 0 : -1, "aria-selected": String(row === selected) }),
  });
  table.element.setAttribute("role", "grid");
  const region = make("div", { class: "scroll tall" }, table.element, make("p", { class: "empty", hidden: true }, "No item passes these filters."));
  const rowOf = (element) => element.closest("tbody tr");

  const select = (element) => {
    selected = places.get(element.dataset.place);
    for (const other of table.body.rows) {
      other.tabIndex = other === element ? 0 : -1;
      other.setAttribute("aria-selected", String(other === element));
    }
    explainItem(panel, selected, () => element.focus());
  };
  const open = (element) => {
    select(element);
    panel.focus({ preventScroll: isBeside() });
    if (!isBeside()) panel.scrollIntoView({ block: "start" });
  };
  const isBeside = () => window.matchMedia("(min-width: 64rem)").matches;

  table.body.addEventListener("click", (event) => {
    const element = rowOf(event.target);
    if (!element) return;
    if (isBeside()) { element.focus(); select(element); } else open(element);
  });
  table.body.addEventListener("keydown", (event) => {
    const element = rowOf(event.target);
    if (!element) return;
    const last = table.body.lastElementChild, first = table.body.firstElementChild;
    const next = { ArrowDown: element.nextElementSibling, ArrowUp: element.previousElementSibling, Home: first, End: last }[event.key];
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(element); }
    else if (next) { event.preventDefault(); next.focus(); if (isBeside()) select(next); else moveStop(next); }
  });
  const moveStop = (element) => { for (const other of table.body.rows) other.tabIndex = other === element ? 0 : -1; };
  table.element.addEventListener("drawn", () => keepStop());
  // One row can always be reached by Tab, also when the selected one is filtered away.
  const keepStop = () => { if (![...table.body.rows].some((row) => row.tabIndex === 0)) moveStop(table.body.firstElementChild); };
  explainItem(panel, selected, () => table.body.rows[0]?.focus());
  return { region, filters: itemFilters(rows, table, region) };
}

function itemFilters(rows, table, region) {
  const text = make("input", { type: "search", id: "filter-text", placeholder: "item or class", autocomplete: "off", spellcheck: "false" });
  const chosen = [...new Set(rows.map((row) => row.chosen))].sort((a, b) => a - b);
  const predicted = make("select", { id: "filter-class" }, make("option", { value: "" }, "any class"),
    chosen.map((place) => make("option", { value: place }, shortened(className(place), 40))));
  const changed = make("input", { type: "checkbox", id: "filter-changed" });
  const wrong = make("input", { type: "checkbox", id: "filter-wrong" });
  const found = make("span", { class: "found", role: "status", "aria-live": "polite" });
  const apply = () => {
    const words = text.value.trim().toLowerCase();
    const passes = (row) =>
      (!words || [row.name, className(row.chosen), className(row.average), row.truth < 0 ? "" : className(row.truth)].some((name) => name.toLowerCase().includes(words)))
      && (predicted.value === "" || row.chosen === Number(predicted.value))
      && (!changed.checked || isChanged(row)) && (!wrong.checked || isWrong(row));
    const some = rows.filter(passes);
    table.show(some);
    table.element.hidden = some.length === 0;
    region.querySelector(".empty").hidden = some.length > 0;
    found.textContent = some.length === rows.length ? counted(rows.length, "item") : `${count(some.length)} of ${counted(rows.length, "item")}`;
  };
  for (const control of [text, predicted, changed, wrong]) control.addEventListener("input", apply);
  apply();
  return make("form", { class: "filters", role: "search", "aria-label": "Filter the items" },
    make("label", { for: "filter-text" }, "Find", text), make("label", { for: "filter-class" }, "Answered", predicted),
    make("label", { class: "check", for: "filter-changed" }, changed, "changed only"),
    hasLabels ? make("label", { class: "check", for: "filter-wrong" }, wrong, "wrong only") : null, found);
}

// ---- the explanation of one item ----

function explainItem(panel, row, goBack) {
  const { why } = row;
  const back = make("button", { type: "button", class: "back" }, "Back to the list");
  back.addEventListener("click", goBack);
  panel.onkeydown = (event) => { if (event.key === "Escape") goBack(); };
  panel.replaceChildren(
    make("div", { class: "explanation-head" }, make("h3", {}, make("span", { class: "quiet" }, "Item "), row.name), back),
    make("p", { class: "verdict-line" }, verdictSentence(row)), posteriorTable(row),
    make("h4", {}, "What tipped ", make("b", {}, className(why.winner)), " over ", make("b", {}, className(why.rival))),
    evidenceTable(why), make("h4", {}, "Who said what"), ...saidTable(row));
}

function verdictSentence(row) {
  const truth = row.truth < 0 ? "" : row.chosen === row.truth ? " The consensus is right." : row.average === row.truth ? " The average is right." : ` The truth is ${className(row.truth)}.`;
  return isChanged(row)
    ? `The consensus says ${className(row.chosen)} (${percentOf(row.confidence)} sure), the plain average ${className(row.average)} (${percentOf(row.average_confidence)}).${truth}`
    : `The consensus says ${className(row.chosen)} (${percentOf(row.confidence)} sure), and so does the plain average (${percentOf(row.average_confidence)}).${truth}`;
}

/** The log-odds of winner over rival, split exactly: bars to the right speak for the winner, to the left for the rival. */
function evidenceTable(why) {
  const most = Math.max(Math.abs(why.prior), Math.abs(why.others_nats), ...why.members.map((part) => Math.abs(part.nats)));
  const line = (name, nats, from, kind = null) => make("tr", { class: kind }, make("th", { scope: "row", title: name }, name), make("td", { class: "wide-cell" }, divergingBar(nats, most)),
    make("td", { class: "number" }, signed(nats)), make("td", { class: "words" }, clamped(from)));
  const parts = (part) => part.parts.map(([place, nats]) => `${place < 0 ? "answering" : className(place)} ${signed(nats)}`).join(", ");
  return make("table", { class: "evidence" },
    make("caption", {}, `Evidence in nats: right of the line for ${className(why.winner)}, left for ${className(why.rival)}.`),
    make("thead", {}, make("tr", {}, [["Member", null], ["", null], ["nats", "number"], ["mostly by its word on", "words"]].map(([title, kind]) => make("th", { scope: "col", class: kind }, title)))),
    make("tbody", {}, why.members.map((part) => line(memberName(part.member), part.nats, parts(part))),
      why.others ? line(`${counted(why.others, "other member")}`, why.others_nats, "", "quiet") : null,
      line("class prior", why.prior, "", "quiet")),
    make("tfoot", {}, make("tr", {}, make("th", { scope: "row" }, "sum"), make("td", {}), make("td", { class: "number" }, signed(why.log_odds)),
      make("td", { class: "words" }, "log-odds"))));
}

const MOST_BARS = 4;

function posteriorTable(row) {
  const { why } = row;
  const isAll = why.classes.length === report.classes.length;
  const cell = (value, kind) => make("td", { class: "pair" }, bar(value, kind), make("span", {}, percentOf(value)));
  const order = why.classes.map((place, at) => at).sort((a, b) => why.consensus[b] - why.consensus[a] || why.average[b] - why.average[a]);
  const contenders = [why.winner, why.rival, row.truth];
  const telling = order.filter((at, rank) => rank < MOST_BARS || contenders.includes(why.classes[at]));
  const rest = (values) => Math.max(0, 1 - telling.reduce((total, at) => total + values[at], 0));
  const hasRest = telling.length < why.classes.length || !isAll;
  return make("table", { class: "posterior" },
    make("thead", {}, make("tr", {}, ["Class", "Consensus", "Plain average"].map((title) => make("th", { scope: "col" }, title)))),
    make("tbody", {}, telling.map((at) => make("tr", {}, make("th", { scope: "row", title: className(why.classes[at]) }, className(why.classes[at]),
      why.classes[at] === row.truth ? make("span", { class: "chip truth" }, "truth") : null), cell(why.consensus[at], "strong"), cell(why.average[at], "faint"))),
    hasRest ? make("tr", { class: "quiet" }, make("th", { scope: "row" }, "all others"), cell(rest(why.consensus), "strong"), cell(rest(why.average), "faint")) : null));
}

function saidTable({ why, truth }) {
  const mark = (place) => (place === why.winner ? "contender" : place === why.rival ? "contender" : null);
  const table = make("table", { class: "said" },
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Member"), why.classes.map((place) =>
      make("th", { scope: "col", class: mark(place), title: className(place) + (place === truth ? " (truth)" : "") }, shortened(className(place), 10))))),
    make("tbody", {}, why.members.map((part) => make("tr", {}, make("th", { scope: "row", title: memberName(part.member) }, memberName(part.member)),
      part.said.map((value) => make("td", { class: `cell rate ${rateShade(value ?? 0) > 0.62 ? "on-strong" : ""}`, "--shade": `${100 * rateShade(value ?? 0)}%` }, percentOf(value).replace(" %", "")))))));
  const notes = [
    why.classes.length < report.classes.length ? `the ${why.classes.length} classes that matter here` : null,
    why.silent ? `${counted(why.silent, "member")} did not answer` : null,
    why.others ? `${counted(why.others, "member")} with less influence not shown` : null,
  ].filter(Boolean).join("; ");
  return [scrolling(table, "Probabilities in percent that each member gave"), make("p", { class: "under" }, `Probabilities in %${notes ? `; ${notes}` : ""}.`)];
}
