"use strict";

// How sure answers are, and how often they are right.

const SCORES = [
  ["accuracy", "Right", (v) => percentOf(v, 1), 1, "The share of items answered right. Higher is better."],
  ["ece", "Off", (v) => `${(100 * v).toFixed(1)} points`, -1, "Calibration error in 15 bins: how far confidence is from how often answers are right. Lower is better."],
  ["brier", "Brier score", (v) => decimal(v), -1, "The mean squared error of the probabilities, from 0 to 2. Lower is better."],
  ["nll", "Log loss", (v) => decimal(v), -1, "The mean negative logarithm of the probability of the truth (NLL). Lower is better."],
];

function calibration() {
  const { panels, without_confidence: without } = report.calibration;
  const drawn = panels.filter((panel) => panel.kind === "member").length + without;
  const text = hasLabels
    ? "Confidence (across) against how often the answer is right (up), over a histogram of confidence. Points below the diagonal are too sure, above it not sure enough; larger dots stand for more items."
    : "How sure the answers are. Without labels nobody can say how often these confidences come true.";
  const silent = without ? ` ${counted(without, "member")} ${without === 1 ? "gives" : "give"} labels, or nothing, and so no confidence.` : "";
  return section("calibration", hasLabels ? "Calibration" : "Confidence",
    prose(text + silent + shownMembers(drawn)), hasLabels ? scoreTable(panels) : null,
    make("div", { class: "figures small" }, panels.map(calibrationFigure)));
}

const panelName = (panel) => (panel.kind === "member" ? memberName(panel.member) : panel.kind === "fused" ? "Fused answer" : "Plain average");

/** The scores of the fused answer beside the average's, the better one in bold. */
function scoreTable(panels) {
  const two = panels.filter((panel) => panel.kind !== "member");
  const best = (key, sign) => Math.max(...two.map((panel) => sign * panel.scores[key]));
  return scrolling(make("table", {},
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Measured"), SCORES.map(([, title, , , hint]) => make("th", { scope: "col", class: "number", title: hint }, title)))),
    make("tbody", {}, two.map((panel) => make("tr", {}, make("th", { scope: "row" }, panelName(panel)),
      SCORES.map(([key, , show, sign, hint]) => make("td", { class: `number${sign * panel.scores[key] === best(key, sign) ? " best" : ""}`, title: hint }, show(panel.scores[key]))))))), "Scores", "scores");
}

/** How often somebody is right, as everywhere on the page. */
const rightOf = (panel) => (panel.kind === "member" ? report.members.rows.find((row) => row.member === panel.member).value : panel.scores.accuracy);

function calibrationFigure(panel) {
  const name = panelName(panel);
  const words = panel.scores
    ? `${percentOf(panel.confidence, 1)} sure, ${percentOf(rightOf(panel), 1)} right`
    : `${percentOf(panel.confidence, 1)} sure on average`;
  return make("figure", { class: `card ${panel.kind}` }, make("figcaption", { title: name }, name),
    reliabilityDiagram({ ...panel, label: `${name}: ${words}`, kind: panel.kind }), make("p", { class: "under" }, words));
}
