"use strict";

// Reliability diagrams and histograms of confidence.

/** Confidence against accuracy above a histogram of confidence; the histogram alone where there is no curve. */
function reliabilityDiagram({ histogram, curve, confidence, label, kind }) {
  const side = 180, gap = curve ? 14 : 0, bars = 46, left = 30, bottom = 20, top = 6;
  const plot = curve ? side : 0;
  const width = left + side + 8, height = top + plot + gap + bars + bottom;
  const x = (value) => left + side * value;
  const y = (value) => top + plot * (1 - value);
  const svg = draw("svg", { class: `reliability ${kind}`, viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });
  if (curve) drawCurve(svg, curve, x, y, left);
  drawHistogram(svg, histogram, x, top + plot + gap, bars);
  const mean = draw("line", { class: "mean", x1: x(confidence), x2: x(confidence), y1: top + plot + gap, y2: top + plot + gap + bars });
  mean.append(draw("title", {}, `mean confidence ${percentOf(confidence, 1)}`));
  svg.append(mean);
  [0, 0.5, 1].forEach((value) => svg.append(draw("text", { class: "tick", x: x(value), y: height - 5, "text-anchor": value === 1 ? "end" : "middle" }, percentOf(value))));
  return svg;
}

function drawCurve(svg, curve, x, y, left) {
  svg.append(draw("rect", { class: "frame", x: x(0), y: y(1), width: x(1) - x(0), height: y(0) - y(1) }));
  [0.25, 0.5, 0.75].forEach((value) => {
    svg.append(draw("line", { class: "rule", x1: x(0), x2: x(1), y1: y(value), y2: y(value) }));
    svg.append(draw("line", { class: "rule", x1: x(value), x2: x(value), y1: y(0), y2: y(1) }));
  });
  svg.append(draw("line", { class: "ideal", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }));
  [0, 0.5, 1].forEach((value) => svg.append(draw("text", { class: "tick", x: left - 5, y: y(value) + (value === 1 ? 9 : value ? 4 : 0), "text-anchor": "end" }, percentOf(value).replace("%", ""))));
  const bins = curve.items.map((items, b) => ({ items, confidence: curve.confidence[b], accuracy: curve.accuracy[b] })).filter((bin) => bin.items > 0);
  const most = Math.max(...bins.map((bin) => bin.items));
  bins.forEach((bin) => svg.append(draw("line", { class: "miss", x1: x(bin.confidence), x2: x(bin.confidence), y1: y(bin.confidence), y2: y(bin.accuracy) })));
  svg.append(draw("polyline", { class: "curve", points: bins.map((bin) => `${x(bin.confidence)},${y(bin.accuracy)}`).join(" ") }));
  bins.forEach((bin) => svg.append(draw("circle", { class: "dot", cx: x(bin.confidence), cy: y(bin.accuracy), r: 2 + 4 * Math.sqrt(bin.items / most) },
    draw("title", {}, `${percentOf(bin.confidence)} sure, ${percentOf(bin.accuracy)} right (${counted(bin.items, "item")})`))));
}

function drawHistogram(svg, histogram, x, top, height) {
  const most = Math.max(1, ...histogram);
  const width = (x(1) - x(0)) / histogram.length;
  svg.append(draw("line", { class: "rule", x1: x(0), x2: x(1), y1: top + height, y2: top + height }));
  histogram.forEach((items, b) => {
    const tall = (height * items) / most;
    const bar = draw("rect", { class: "bar", x: x(b / histogram.length) + 0.5, y: top + height - tall, width: width - 1, height: tall });
    bar.append(draw("title", {}, `${counted(items, "item")} from ${percentOf(b / histogram.length)} to ${percentOf((b + 1) / histogram.length)} sure`));
    svg.append(bar);
  });
}
