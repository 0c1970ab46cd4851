// The lines of a chart in its frame (templates/charts/frame.html), where Plotly draws them later: the user
// sees them half a second to two seconds sooner.
import { colorOf, missing } from "./chart-lines.js";

const SVG = "http://www.w3.org/2000/svg";
const [LEFT, TOP, BOTTOM] = [35, 8, 192]; // px: the axes of the frame
const HEADROOM = 1.055; // above the highest value, as Plotly leaves

export function preview(frame, spec, palette, text) {
  const at = place(frame, spec);
  const paths = spec.series.map((series, number) => {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", line(series, at));
    path.setAttribute("stroke", colorOf(series, number, palette, text));
    path.setAttribute("class", "chart-preview");
    return path;
  });
  frame.querySelectorAll(".chart-preview").forEach((path) => path.remove());
  frame.append(...paths);
}

// Where a time and a value are, in px.
function place(frame, spec) {
  const times = spec.series.flatMap((series) => series.x);
  const values = spec.series.flatMap((series) => [...series.y, ...(series.high ?? [])]).filter((y) => !missing(y));
  const from = spec.from_ms ?? Math.min(...times);
  const to = spec.to_ms ?? Math.max(...times);
  const top = values.reduce((most, y) => Math.max(most, y), 0) * HEADROOM || 1;
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
