// The lines of a chart, as Plotly draws them: from a description (chart.js says what is in it) and the
// colours of the page.
export const PALETTES = {
  light: ["#3b52c4", "#d9480f", "#2b8a3e", "#9c36b5", "#c2255c", "#0c8599", "#946200", "#495057"],
  dark: ["#97a8ff", "#ff9a5c", "#69db7c", "#da94f0", "#ff8fb1", "#4fd0e0", "#f2c14e", "#b8c2cc"],
};
const DASHES = ["solid", "dash", "dot"]; // more series than colours: told apart by the line

export function traces(spec, colours) {
  return [...spec.series.flatMap((series, number) => lines(spec, series, number, colours)), ...gaps(spec, colours)];
}

// `text`: the colour of a line of an earlier time.
export function colorOf(series, number, palette, text) {
  return series.is_earlier ? text : palette[number % palette.length];
}

// A line; and behind it a band from the lowest to the highest value, if the series has these.
function lines(spec, series, number, { palette, text }) {
  const color = colorOf(series, number, palette, text);
  const line = lineOf(spec, series, number, color, palette.length);
  if (!series.low || series.low.every((low, i) => low === series.high[i])) return [line];
  return [band(series, line.x, color), line];
}

// A closed path around each run of values, so that gaps stay gaps: Plotly's "tonexty" fills them.
function band(series, times, color) {
  const [x, y] = [[], []];
  for (let from = 0, to = 0; from < times.length; from = to + 1) {
    for (to = from; to < times.length && !missing(series.low[to]) && !missing(series.high[to]); ) to += 1;
    const run = times.slice(from, to);
    x.push(...run, ...run.toReversed(), null);
    y.push(...series.high.slice(from, to), ...series.low.slice(from, to).toReversed(), null);
  }
  const shape = { mode: "lines", line: { width: 0 }, fill: "toself", fillcolor: faded(color) };
  return { x, y, type: "scatter", hoverinfo: "skip", showlegend: false, ...shape };
}

const faded = (color) => `${color}26`;

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
    hovertemplate: `%{y:,.5~g} ${spec.unit}<extra>${escaped(series.name)}</extra>`,
    type: "scatter",
    // A point between two gaps has no line: it needs a marker.
    mode: series.y.some((y, i) => alone(series.y, i)) ? "lines+markers" : "lines",
    marker: { color, size: series.y.map((y, i) => (alone(series.y, i) ? 5 : 0)) },
    line: { color, dash, width: series.is_earlier ? 1.25 : 1.75 },
    connectgaps: false,
  };
}

// Plotly turns numbers into the browser's own time, and takes such texts as they are.
export const utc = (ms) => new Date(ms).toISOString().slice(0, 23).replace("T", " ");
export const missing = (y) => y === null || y === undefined;
const alone = (ys, i) => !missing(ys[i]) && missing(ys[i - 1]) && missing(ys[i + 1]);
// Plotly reads a few tags in its texts; names are data.
const escaped = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;");
