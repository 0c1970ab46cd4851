// The lines of a chart in its frame (templates/charts/frame.html), where Plotly draws them later: the user
// sees them half a second to two seconds sooner.
import { yEnd } from "./chart-axes.js";
import { colorOf } from "./chart-colors.js";
import { bandOpacity, EDGE, hasBand, missing, runs } from "./chart-lines.js";

const SVG = "http://www.w3.org/2000/svg";
const [LEFT, TOP, BOTTOM] = [35, 8, 192]; // px: the axes of the frame

export function preview(frame, spec, colours) {
  const at = place(frame, spec);
  const colors = spec.series.map((series, number) => colorOf(spec, series, number, colours));
  const bands = spec.series.map((series, number) => hasBand(series) && band(spec, series, at, colors[number]));
  const lines = spec.series.map((series, number) => path(line(series, at), colors[number]));
  frame.querySelectorAll(".chart-preview").forEach((old) => old.remove());
  frame.append(...bands.filter(Boolean), ...lines);
}

function path(d, color) {
  const made = document.createElementNS(SVG, "path");
  made.setAttribute("d", d);
  made.setAttribute("stroke", color);
  made.setAttribute("class", "chart-preview");
  return made;
}

function band(spec, series, at, color) {
  const point = (values) => (i) => at(series.x[i], values[i]).map((px) => px.toFixed(1)).join(" ");
  const d = runs(series).map(([from, to]) => {
    const places = Array.from({ length: to - from }, (_, i) => from + i);
    return `M${[...places.map(point(series.high)), ...places.toReversed().map(point(series.low))].join("L")}Z`;
  }).join("");
  const made = path(d, color);
  const [fillOpacity, strokeOpacity] = bandOpacity(spec);
  Object.assign(made.style, { fill: color, fillOpacity, strokeOpacity, strokeWidth: EDGE });
  return made;
}

// Where a time and a value are, in px.
function place(frame, spec) {
  const times = spec.series.flatMap((series) => series.x);
  const from = spec.from_ms ?? Math.min(...times);
  const to = spec.to_ms ?? Math.max(...times);
  const top = yEnd(spec);
  const width = frame.clientWidth - LEFT;
  return (ms, y) => [LEFT + (width * (ms - from)) / (to - from || 1), BOTTOM - ((BOTTOM - TOP) * y) / top];
}

function line({ x, y }, at) {
  let isBroken = true;
  return x.map((ms, i) => {
    if (missing(y[i])) {
      isBroken = true;
      return "";
    }
    const command = isBroken ? "M" : "L";
    isBroken = false;
    const dot = command === "M" ? "h0" : ""; // so that a single point is visible
    return command + at(ms, y[i]).map((px) => px.toFixed(1)).join(" ") + dot;
  }).join("");
}
