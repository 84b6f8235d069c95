"use strict";

// Elements and numbers. Text reaches the page through textContent alone.

/** An element with attributes and children; a string becomes text, null nothing. */
function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("--")) element.style.setProperty(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

const isNumber = (value) => typeof value === "number";

const percentOf = (value, digits = 0) =>
  !isNumber(value) ? "–"
    : value > 0 && value < 0.5 / 10 ** (digits + 2) ? `<${(1 / 10 ** digits).toFixed(digits)}%`
    : value < 1 && value > 1 - 0.5 / 10 ** (digits + 2) ? `>${(100 - 1 / 10 ** digits).toFixed(digits)}%`
    : value === 0 || value === 1 ? `${100 * value}%`
    : `${(100 * value).toFixed(digits)}%`;

const decimal = (value, digits = 3) => (isNumber(value) ? value.toFixed(digits) : "–");

/** With a sign, and the true minus. */
const signed = (value, digits = 2) =>
  isNumber(value) ? `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}` : "–";

const count = (value) => value.toLocaleString("en");

/** "1 item", "2 items", "2 classes". */
const counted = (value, noun) =>
  `${count(value)} ${value === 1 ? noun : noun.endsWith("s") ? `${noun}es` : `${noun}s`}`;

/** A name cut to fit a figure; the whole of it is in the tooltip. */
function shortened(name, most) {
  const letters = Array.from(name);
  return letters.length <= most ? name : `${letters.slice(0, most - 1).join("")}…`;
}

/** The same, cut in the middle: names often begin alike. */
function shortenedInside(name, most) {
  const letters = Array.from(name), half = Math.floor((most - 1) / 2);
  return letters.length <= most ? name : `${letters.slice(0, most - 1 - half).join("")}…${letters.slice(-half).join("")}`;
}

/** A section with a heading that the navigation can point to. */
function section(id, heading, ...children) {
  return make("section", { id, "aria-labelledby": `${id}-heading` },
    make("h2", { id: `${id}-heading` }, heading), ...children);
}

const prose = (...children) => make("p", { class: "prose" }, ...children);

// ---- the tooltip: one for the page, beside the pointer or the cell in focus ----

const tooltip = {
  show(lines, x, y) {
    const box = document.getElementById("tooltip");
    box.replaceChildren(...lines.map((line) => make("div", {}, line)));
    box.hidden = false;
    const { width, height } = box.getBoundingClientRect();
    const left = Math.max(8, Math.min(x + 14, window.innerWidth - width - 8));
    const top = y + 18 + height > window.innerHeight ? Math.max(8, y - height - 12) : y + 18;
    box.style.setProperty("left", `${left}px`);
    box.style.setProperty("top", `${top}px`);
  },
  hide() {
    document.getElementById("tooltip").hidden = true;
  },
};

/** Tell a screen reader. */
function say(sentence) {
  document.getElementById("spoken").textContent = sentence;
}
