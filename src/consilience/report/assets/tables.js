"use strict";

// Tables that sort by any column, filters above them, and bars in their cells.

/**
 * A sortable table. A column has a `title`, a `value(row)` to sort by and a `cell(row)` to show; it may be `numeric`, be
 * sorted `descending` at first, and have a `hint`, a `spoken` title and a `className`. Missing values come last, whichever
 * way. The table dispatches "drawn" whenever its rows were made anew.
 */
function sortableTable({ columns, rows, caption, rowAttributes = () => ({}), className = "" }) {
  const body = make("tbody");
  const headings = new Map();
  let shown = rows, sortedBy = null, isDescending = false;

  const classOf = (column) => [column.numeric ? "number" : null, column.className].filter(Boolean).join(" ") || null;

  const heading = (column) => {
    const button = make("button", { type: "button", title: column.hint, "aria-label": column.spoken && `${column.title}: ${column.spoken}` }, column.title, make("span", { class: "arrow", "aria-hidden": "true" }));
    const cell = make("th", { scope: "col", class: classOf(column), "aria-sort": "none" }, button);
    button.addEventListener("click", () => sortBy(column));
    headings.set(column, cell);
    return cell;
  };

  const sortBy = (column) => {
    isDescending = sortedBy === column ? !isDescending : Boolean(column.descending);
    sortedBy = column;
    for (const [other, cell] of headings) {
      cell.setAttribute("aria-sort", other === column ? (isDescending ? "descending" : "ascending") : "none");
    }
    drawRows();
  };

  const ordered = () => {
    if (!sortedBy) return [...shown];
    const sign = isDescending ? -1 : 1;
    return [...shown].sort((a, b) => {
      const [x, y] = [sortedBy.value(a), sortedBy.value(b)];
      if (x === null || y === null) return (x === null) - (y === null);
      return sign * (isNumber(x) ? x - y : x.localeCompare(y, "en", { numeric: true }));
    });
  };

  const drawRows = () => {
    body.replaceChildren(...ordered().map((row) => make("tr", rowAttributes(row),
      columns.map((column, place) => make(place === 0 ? "th" : "td", {
        scope: place === 0 ? "row" : null, class: classOf(column),
      }, column.cell(row))))));
    table.dispatchEvent(new Event("drawn"));
  };

  const table = make("table", { class: `sortable ${className}`.trim() },
    make("caption", { class: "unseen" }, caption),
    make("thead", {}, make("tr", {}, columns.map(heading))), body);
  drawRows();
  return {
    element: table,
    body,
    show(some) {
      shown = some;
      drawRows();
    },
  };
}

/** Text of at most two lines; all of it in the tooltip. */
const clamped = (text) => make("span", { class: "clamp", title: text }, text);

/** A table that scrolls sideways inside itself where the page is narrow. */
const scrolling = (table, label, kind = "") => make("div", { class: `scroll ${kind}`.trim(), tabindex: 0, role: "region", "aria-label": label }, table);

/** Controls that filter what is below them. */
function filters(label, ...controls) {
  const form = make("form", { class: "filters", role: "search", "aria-label": label }, controls);
  form.addEventListener("submit", (event) => event.preventDefault());
  return form;
}

/** A bar in a table cell, from the left; `share` of the cell's width. */
const bar = (share, kind = "plain") =>
  make("span", { class: `bar-track ${kind}`, "aria-hidden": "true" }, make("span", { class: "bar-fill", "--share": `${100 * Math.max(0, Math.min(1, share))}%` }));
