"use strict";

// The items: a table to filter, sort and walk through, beside the explanation of the one selected; answers to look at
// again; items to label.

const isChanged = (row) => row.chosen !== row.average;
const isWrong = (row) => row.truth >= 0 && row.chosen !== row.truth;

function items() {
  const { rows, changed, reasons } = report.items;
  const { items: total } = report.sizes;
  const left = total - rows.length;
  const panel = make("div", { class: "explanation card", id: "explanation", tabindex: "-1", role: "region", "aria-label": "Explanation of the selected item" });
  const list = itemTable(rows, panel);
  const kinds = [
    changed ? `${count(reasons.changed)}${reasons.changed < changed ? ` of the ${count(changed)}` : ""} answered differently from the plain average` : null,
    reasons.uncertain ? `${count(reasons.uncertain)} whose answer is least sure` : null,
    reasons.disputed ? `${count(reasons.disputed)} that members dispute most` : null,
  ].filter(Boolean);
  return section("items", "Items worth a look",
    prose(`${left ? `Shown are ${count(rows.length)} of ${counted(total, "item")}` : `All ${counted(total, "item")}`}: ${kinds.join("; ")}. ${changed ? "" : "No item is answered differently from the plain average. "}Select one to see what tipped it.`),
    list.filters, make("div", { class: "split" }, make("div", { class: "list" }, list.region), panel), doubtful());
}

function itemTable(rows, panel) {
  const answer = (place, mark) => [make("span", { class: mark ? `mark ${mark}` : null }, className(place))];
  const columns = [
    { title: "Item", value: (r) => r.name, cell: (r) => make("span", { class: "clip", title: r.name }, r.name), className: "name" },
    { title: "Fused answer", value: (r) => className(r.chosen), cell: (r) => answer(r.chosen, r.truth < 0 ? null : r.truth === r.chosen ? "ok" : "bad"), className: "class-name" },
    { title: "sure", spoken: "Confidence of the fused answer", numeric: true, descending: true, value: (r) => r.confidence, cell: (r) => percentOf(r.confidence), hint: "The probability of the fused answer." },
    { title: "Average", value: (r) => className(r.average), cell: (r) => answer(r.average, r.truth < 0 ? null : r.truth === r.average ? "ok" : "bad"), className: "class-name" },
    hasLabels ? null : { title: "sure", spoken: "Confidence of the average", className: "optional", numeric: true, descending: true, value: (r) => r.average_confidence, cell: (r) => percentOf(r.average_confidence), hint: "The average’s probability of its answer." },
    hasLabels ? { title: "Truth", value: (r) => (r.truth < 0 ? null : className(r.truth)), cell: (r) => (r.truth < 0 ? "–" : className(r.truth)), className: "class-name" } : null,
    { title: "Against", numeric: true, descending: true, value: (r) => r.against / r.answers, cell: (r) => `${r.against}/${r.answers}`, hint: "How many of the answers contradict the fused answer." },
    { title: "Why shown", className: "optional", value: (r) => r.reason, cell: (r) => [make("span", { class: `chip ${r.reason}` }, r.reason), r.given ? make("span", { class: "chip", title: "Its label was given to the fit." }, "label given") : null] },
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
  return filters("Filter the items",
    make("label", { for: "filter-text" }, "Find", text), make("label", { for: "filter-class" }, "Answered", predicted),
    make("label", { class: "check", for: "filter-changed" }, changed, "changed only"),
    hasLabels ? make("label", { class: "check", for: "filter-wrong" }, wrong, "wrong only") : null, found);
}

// ---- single answers to look at again ----

function doubtful() {
  const rows = report.items.doubtful;
  if (!rows.length) return null;
  const answer = (place, truth) => make("span", { class: truth < 0 ? null : `mark ${truth === place ? "ok" : "bad"}` }, className(place));
  const columns = [
    { title: "Member", value: (r) => memberName(r.member), cell: (r) => make("span", { class: "clip wide", title: memberName(r.member) }, memberName(r.member)), className: "name" },
    { title: "Item", value: (r) => r.item, cell: (r) => make("span", { class: "clip", title: r.item }, r.item) },
    { title: "Said", value: (r) => className(r.said), cell: (r) => answer(r.said, r.truth), className: "class-name" },
    { title: "Believed", numeric: true, value: (r) => r.belief, cell: (r) => percentOf(r.belief, 1), hint: "The probability that the fused answer gives to what the member said." },
    { title: "Fused answer", value: (r) => className(r.chosen), cell: (r) => answer(r.chosen, r.truth), className: "class-name" },
    { title: "sure", spoken: "Confidence of the fused answer", numeric: true, descending: true, value: (r) => r.confidence, cell: (r) => percentOf(r.confidence) },
  ];
  const table = sortableTable({ columns, rows, caption: "Answers to look at again", className: "doubtful" });
  return make("details", { class: "more" }, make("summary", {}, `${counted(rows.length, "answer")} to look at again`),
    prose("Single answers that the fused answer finds least probable. Somebody misread the item, or the fused answer is wrong: either is worth knowing."),
    scrolling(table.element, "Answers to look at again", "tall"));
}

// ---- what to label ----

function suggestions() {
  const rows = report.suggestions;
  if (!rows.length) return section("suggestions", "Label these first", prose("Every item has a label."));
  const columns = [
    { title: "Item", value: (r) => r.name, cell: (r) => make("span", { class: "clip", title: r.name }, r.name), className: "name" },
    { title: "Fused answer", value: (r) => className(r.answer), cell: (r) => className(r.answer), className: "class-name" },
    { title: "sure", spoken: "Confidence of the fused answer", numeric: true, value: (r) => r.probability, cell: (r) => percentOf(r.probability) },
    { title: "Why", value: (r) => r.why, cell: (r) => clamped(r.why), className: "words" },
  ];
  const table = sortableTable({ columns, rows, caption: "Items to label first", className: "suggestions" });
  return section("suggestions", "Label these first",
    prose("A few labels correct the answers to all items. These items are chosen to teach much together: uncertain ones, but some of every kind. The command ", make("code", {}, "consilience suggest"), " gives more, as a table to fill in."),
    scrolling(table.element, "Items to label first"));
}
