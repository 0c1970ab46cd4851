// The lines of a chart, as Plotly draws them: from a description (chart.js says what is in it) and the
// colours of the page (chart-colors.js).
import { colorOf, faded } from "./chart-colors.js";

const DASHES = ["solid", "dash", "dot"]; // more series than colours: told apart by the line

export function traces(spec, colours) {
  const colorAt = (series, number) => colorOf(spec, series, number, colours);
  return [
    ...spec.series.flatMap((series, number) => band(spec, series, colorAt(series, number))),
    ...spec.series.map((series, number) => lineOf(spec, series, number, colorAt(series, number), colours.palette.length)),
    ...gaps(spec, colours),
  ];
}

// From the lowest to the highest value of each point. Its edge shows a peak that is one point wide; its
// area is so light that several can lie upon each other.
function band(spec, series, color) {
  if (!hasBand(series)) return [];
  const [x, y] = [[], []];
  const times = series.x.map(utc);
  for (const [from, to] of runs(series)) {
    const run = times.slice(from, to);
    x.push(...run, ...run.toReversed(), null);
    y.push(...series.high.slice(from, to), ...series.low.slice(from, to).toReversed(), null);
  }
  const [area, edge] = bandOpacity(spec);
  const shape = { mode: "lines", line: { width: EDGE, color: faded(color, edge) }, fill: "toself", fillcolor: faded(color, area) };
  return [{ x, y, type: "scatter", hoverinfo: "skip", showlegend: false, ...shape }];
}

export const EDGE = 0.75; // px
// The opacities of the area and of its edge.
export const bandOpacity = (spec) => (spec.series.length > 1 ? [0.07, 0.5] : [0.15, 0.5]);
export const hasBand = ({ low, high }) => Boolean(low) && !low.every((value, i) => value === high[i]);

// The runs of points between gaps: [first, behind the last]. Each has a band of its own, so that gaps stay
// gaps: Plotly's fill "tonexty" fills them.
export function runs({ low, high }) {
  const found = [];
  for (let from = 0, to = 0; from < low.length; from = to + 1) {
    for (to = from; to < low.length && !missing(low[to]) && !missing(high[to]); ) to += 1;
    if (to > from) found.push([from, to]);
  }
  return found;
}

// Times without samples: a mark on the axis, with the reason.
function gaps(spec, { text }) {
  if (!spec.gaps?.length) return [];
  return [{
    x: spec.gaps.map((gap) => utc((Math.max(gap.from_ms, spec.from_ms) + Math.min(gap.to_ms, spec.to_ms)) / 2)),
    y: spec.gaps.map(() => 0),
    text: spec.gaps.map((gap) => escaped(gap.text)),
    hovertemplate: "%{text}<extra></extra>",
    type: "scatter",
    mode: "markers",
    marker: { color: text, size: 6, symbol: "line-ew-open" },
    showlegend: false,
  }];
}

function lineOf(spec, series, number, color, paletteSize) {
  const ownDash = DASHES[Math.floor(number / paletteSize) % DASHES.length];
  const dash = series.is_earlier ? "dot" : series.is_other ? "dash" : ownDash;
  return {
    name: escaped(series.name),
    x: series.x.map(utc),
    y: series.y,
    customdata: series.y.map((_y, i) => [series.low?.[i], series.high?.[i]]),
    hovertemplate: series.y.map((_y, i) => `%{y:,.5~g} ${spec.unit}${extent(series, i)}<extra>${escaped(series.name)}</extra>`),
    type: "scatter",
    // A point between two gaps has no line: it needs a marker.
    mode: series.y.some((y, i) => alone(series.y, i)) ? "lines+markers" : "lines",
    marker: { color, size: series.y.map((y, i) => (alone(series.y, i) ? 5 : 0)) },
    line: { color, dash, width: series.is_earlier ? 1.25 : 1.75 },
    connectgaps: false,
  };
}

// The lowest and the highest value of a point, where they differ.
function extent({ low, high, is_sum: isSum }, i) {
  if (missing(low?.[i]) || low[i] === high[i]) return "";
  return isSum ? " (≥ %{customdata[1]:,.5~g})" : " (%{customdata[0]:,.5~g} – %{customdata[1]:,.5~g})";
}

// Plotly turns numbers into the browser's own time, and takes such texts as they are.
export const utc = (ms) => new Date(ms).toISOString().slice(0, 23).replace("T", " ");
export const missing = (y) => y === null || y === undefined;
const alone = (ys, i) => !missing(ys[i]) && missing(ys[i - 1]) && missing(ys[i + 1]);
// Plotly reads a few tags in its texts; names are data.
const escaped = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;");
