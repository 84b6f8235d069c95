"use strict";

// Puts the page together.

const SECTIONS = [["verdict", "Verdict"], ["members", "Members"], ["confusion", "Confusions"], ["calibration", hasLabels ? "Calibration" : "Confidence"], ["items", "Items"], ["suggestions", "To label"]];

document.getElementById("top").append(...masthead(SECTIONS));
document.getElementById("main").append(opening(), members(), confusions(), calibration(), items(), suggestions());
document.getElementById("foot").append(...foot());

/** Where the page comes from. */
function foot() {
  const { date, version, command, fingerprint, settings, iterations, labels } = report.made;
  const { members, soft_members: soft, answers } = report.sizes;
  const kind = soft === members ? "probabilities" : soft === 0 ? "labels" : `${count(soft)} members gave probabilities, ${count(members - soft)} labels`;
  const facts = [
    ["Labels", labels],
    ["Data", [`${counted(answers, "answer")} (${kind}), fingerprint `, make("code", { title: "The first digits of the SHA-256 checksum of all answers and names: the same data has the same fingerprint." }, fingerprint)]],
    ["Method", [make("code", {}, settings), iterations ? `, ${counted(iterations, "iteration")}` : ""]],
    ...(command ? [["Command", make("code", {}, command)]] : []),
    ["Made", `on ${date} by consilience ${version}`],
  ];
  return [make("dl", {}, facts.map(([term, value]) => [make("dt", {}, term), make("dd", {}, value)]))];
}
