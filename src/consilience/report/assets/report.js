"use strict";

// Puts the page together.

const SECTIONS = [["overview", "Overview"], ["confusion", "Errors"], ["members", "Members"], ["calibration", hasLabels ? "Calibration" : "Confidence"], ["agreement", "Agreement"], ["suggestions", "To label"], ["items", "Items"]];

document.getElementById("top").append(...masthead());
document.getElementById("main").append(overview(), confusion(), card(), calibration(), agreement(), suggestions(), items());
document.getElementById("foot").append(make("p", {}, fitted(), " Written by consilience."));

/** What the labels did, as far as it is known here. */
function fitted() {
  if (!report.method.fitted_here) return `The method had been fitted before${hasLabels ? "; labels given to this report only score its answers" : ""}.`;
  return hasLabels ? "Labels scored the answers above and took no part in making them." : "Everything above was made without a single label.";
}
