"use strict";

// A waterfall of log-odds: where the odds of two classes start, how each answer moves them, and where they end.

const MOST_STEPS = 12, FIRST_STEPS = 10;
const CHANCES = [0.5, 0.9, 0.1, 0.99, 0.01, 0.75, 0.25, 0.999, 0.001, 0.9999, 0.0001, 0.99999, 0.00001];
const ROOM_FOR_TICK = 0.12;

const logOdds = (chance) => Math.log(chance / (1 - chance));
const chanceOf = (odds) => 1 / (1 + Math.exp(-odds));

/** "×3.3" where the odds grow, "÷2.1" where they shrink. */
function factor(weight) {
  const times = Math.exp(Math.abs(weight));
  const shown = times < 1.05 ? times.toFixed(2) : times >= 9999.5 ? "10,000+" : times < 9.95 ? times.toFixed(1) : times.toLocaleString("en", { maximumSignificantDigits: 3 });
  return `${weight < 0 ? "÷" : "×"}${shown}`;
}

/** "3.5 to 1", or "1 to 3.5" where the rival leads. */
function odds(value) {
  const times = factor(Math.abs(value)).slice(1);
  return value < 0 ? `1 to ${times}` : `${times} to 1`;
}

/**
 * The waterfall of an item. `steps` have a `name`, a `weight` in log-odds, and what was `said`. Small
 * steps are drawn as one until the reader asks for all. `shares` is the step of class shares that were given, if not 0.
 */
function waterfall({ winner, rival, start, shares, steps, others, othersWeight, end }) {
  const box = make("div", { class: "waterfall" });
  const given = shares ? [{ name: "Class shares", said: "as given", weight: shares, kind: "given" }] : [];
  const rest = (hidden) => hidden.reduce((total, step) => total + step.weight, othersWeight);
  const drawSteps = (isAll) => {
    const first = isAll || steps.length <= MOST_STEPS ? steps : steps.slice(0, FIRST_STEPS);
    const hidden = steps.slice(first.length);
    const n = hidden.length + others;
    const shown = n ? [...given, ...first, { name: `${counted(n, "other member")}`, said: "together", weight: rest(hidden), kind: "rest" }] : [...given, ...first];
    const button = steps.length > MOST_STEPS ? make("button", { type: "button", class: "pill" }, isAll ? "Show fewer" : `Show ${steps.length} members one by one`) : null;
    button?.addEventListener("click", () => drawSteps(!isAll));
    box.replaceChildren(waterfallList({ winner, rival, start, shown, end }), ...(button ? [button] : []));
  };
  drawSteps(false);
  return box;
}

function waterfallList({ winner, rival, start, shown, end }) {
  const sums = [start];
  for (const step of shown) sums.push(sums.at(-1) + step.weight);
  const low = Math.min(0, ...sums, end), high = Math.max(0, ...sums, end);
  const room = 0.06 * Math.max(high - low, 0.5);
  const at = (value) => (value - low + room) / (high - low + 2 * room);
  const line = (kind, name, said, from, to, value, told) => {
    const row = make("li", { class: kind },
      make("span", { class: "who", title: name }, name), make("span", { class: "vote", title: said }, said),
      make("span", { class: "track", "aria-hidden": "true" }, make("span", { class: "step", "--from": share(Math.min(at(from), at(to))), "--to": share(Math.max(at(from), at(to))) }), kind.includes("end") ? null : make("span", { class: "link", "--at": share(at(to)) })),
      make("span", { class: "value" }, value));
    row.addEventListener("pointermove", (event) => tooltip.show(told, event.clientX, event.clientY));
    row.addEventListener("pointerleave", () => tooltip.hide());
    return row;
  };
  const moved = (step, i) => line(`${step.weight < 0 ? "minus" : "plus"} ${step.kind ?? ""}`, step.name, step.said, sums[i], sums[i + 1], factor(step.weight),
    [`${step.name} (${step.said}): the odds of ${winner} against ${rival} ${factor(step.weight)}`, `chance of ${winner} of the two: ${percentOf(chanceOf(sums[i]), 1)} → ${percentOf(chanceOf(sums[i + 1]), 1)}`]);
  return make("ol", { "--zero": share(at(0)) },
    make("li", { class: "sides", "aria-hidden": "true" }, make("span", { class: "track" },
      make("span", { class: "side minus", title: rival }, `← ${shortened(rival, 18)}`), make("span", { class: "side plus", title: winner }, `${shortened(winner, 18)} →`))),
    line("start", "Start", "no answer yet", 0, start, odds(start), [`Before any answer the odds of ${winner} against ${rival} are ${odds(start)}`]),
    shown.map(moved),
    line("end", "Fused answer", "", 0, end, odds(end), [`In the end the odds of ${winner} against ${rival} are ${odds(end)}: a chance of ${percentOf(chanceOf(end), 1)} of the two`]),
    make("li", { class: "axis", "aria-hidden": "true" }, make("span", { class: "track ticks" }, chanceTicks(at, low - room, high + room))));
}

/** Chances along the axis, the round ones first, as many as have room. */
function chanceTicks(at, low, high) {
  const placed = [];
  for (const chance of CHANCES) {
    const value = logOdds(chance), place = at(value);
    if (value < low || value > high || placed.some((other) => Math.abs(other - place) < ROOM_FOR_TICK)) continue;
    placed.push(place);
  }
  return CHANCES.filter((chance) => placed.includes(at(logOdds(chance)))).map((chance) =>
    make("span", { class: "mark-at", "--at": share(at(logOdds(chance))) }, `${Number((100 * chance).toPrecision(5))}%`));
}
