"use strict";

// A heat map that pointer and arrow keys read cell by cell.

/**
 * A heat map. `kind(row, column)` names the colour ramp of a cell ("right", "wrong", "plus", "minus"),
 * `shade(value)` says how far along it (0 to 1), and `tell(row, column)` puts a cell into words.
 */
function heatMap({ values, rows, columns, label, kind, shade, tell, write = null, rowTitle = "", columnTitle = "" }) {
  const size = Math.max(12, Math.min(columns.length <= 6 ? 44 : 30, 300 / columns.length));
  const longest = (names) => Math.max(...names.map((name) => Array.from(name).length));
  const cut = columns.length <= 12 ? 18 : 16;
  const upright = longest(columns) <= Math.max(2, Math.floor(size / 9));
  const rowShown = rows.map((name) => shortenedInside(name, cut));
  const columnShown = columns.map((name) => shortenedInside(name, cut));
  const left = 8 + 6.9 * longest(rowShown) + (rowTitle ? 16 : 0);
  const top = (upright ? 18 : 8 + 6.9 * longest(columnShown)) + (columnTitle ? 16 : 0);
  const width = left + size * columns.length + 2;
  const height = top + size * rows.length + 2;
  const svg = draw("svg", {
    class: "heat", viewBox: `0 0 ${width} ${height}`, width, height, tabindex: 0, role: "application",
    "aria-roledescription": "heat map", "aria-label": `${label}. Arrow keys read the cells.`,
  });
  if (columnTitle) svg.append(draw("text", { class: "axis-title", x: left + (size * columns.length) / 2, y: 11, "text-anchor": "middle" }, columnTitle));
  if (rowTitle) svg.append(draw("text", { class: "axis-title", "text-anchor": "middle", transform: `translate(11 ${top + (size * rows.length) / 2}) rotate(-90)` }, rowTitle));
  columnShown.forEach((name, j) => {
    const x = left + size * (j + 0.5);
    const place = upright ? { x, y: top - 6, "text-anchor": "middle" } : { transform: `translate(${x + 3} ${top - 5}) rotate(-90)` };
    svg.append(draw("text", { class: "tick", ...place }, name));
  });
  rowShown.forEach((name, i) => {
    svg.append(draw("text", { class: "tick", x: left - 6, y: top + size * (i + 0.5) + 4, "text-anchor": "end" }, name));
  });
  values.forEach((row, i) => row.forEach((value, j) => {
    const x = left + size * j, y = top + size * i;
    const strength = isNumber(value) ? shade(value) : 0;
    svg.append(draw("rect", {
      class: isNumber(value) ? `cell ${kind(i, j)}` : "cell absent", x: x + 0.5, y: y + 0.5, width: size - 1, height: size - 1,
      rx: Math.min(2, size / 8), "--shade": `${(100 * strength).toFixed(1)}%`,
    }));
    if (write && size >= 20) {
      svg.append(draw("text", { class: strength > 0.55 ? "written on-strong" : "written", x: x + size / 2, y: y + size / 2 + 3.5, "text-anchor": "middle" }, write(value)));
    }
  }));
  const cursor = draw("rect", { class: "cursor", width: size, height: size, rx: 2, visibility: "hidden" });
  svg.append(cursor);
  readCells(svg, cursor, { left, top, size, width, n: rows.length, m: columns.length, tell });
  return svg;
}

/** Pointer and arrow keys move a cursor over the cells of a heat map; what it is on is told. */
function readCells(svg, cursor, { left, top, size, width, n, m, tell }) {
  let at = [0, 0];
  const moveTo = (i, j) => {
    at = [i, j];
    cursor.setAttribute("x", left + size * j);
    cursor.setAttribute("y", top + size * i);
    cursor.setAttribute("visibility", "visible");
  };
  const leave = () => {
    cursor.setAttribute("visibility", "hidden");
    tooltip.hide();
  };
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const scale = width / box.width;
    const j = Math.floor(((event.clientX - box.left) * scale - left) / size);
    const i = Math.floor(((event.clientY - box.top) * scale - top) / size);
    if (i < 0 || j < 0 || i >= n || j >= m) return leave();
    moveTo(i, j);
    tooltip.show([tell(i, j)], event.clientX, event.clientY);
  });
  svg.addEventListener("pointerleave", leave);
  svg.addEventListener("blur", leave);
  const read = () => {
    moveTo(...at);
    const box = cursor.getBoundingClientRect();
    tooltip.show([tell(...at)], box.right, box.bottom);
    say(tell(...at));
  };
  svg.addEventListener("focus", () => { if (svg.matches(":focus-visible")) read(); });
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  svg.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return leave();
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    at = [Math.max(0, Math.min(n - 1, at[0] + step[0])), Math.max(0, Math.min(m - 1, at[1] + step[1]))];
    read();
  });
}

/** A colour ramp with its ends in words; of two kinds, the first is for what is below zero. */
function legend(kinds, from, to, caption, shade = (value) => value, [low, high] = [0, 1]) {
  const steps = Array.from({ length: 25 }, (_, i) => low + ((high - low) * i) / 24);
  const ramp = make("span", { class: "ramp", "aria-hidden": "true" },
    steps.map((value) => make("i", { class: `cell ${value < 0 ? kinds[0] : kinds.at(-1)}`, "--shade": `${100 * shade(value)}%` })));
  return make("span", { class: "legend" }, make("span", {}, caption), make("span", { class: "legend-end" }, from), ramp, make("span", { class: "legend-end" }, to));
}
