// Draws every chart of the console. A page names its data, or the URL that has it:
//
//   {{ spec|json_script:"chart-messages" }}
//   <div class="chart" data-chart="chart-messages" role="img" aria-label="…"></div>
//   <div class="chart" data-src="/c/local/chart?…" role="img" aria-label="…"></div>
//
// spec = {kind: "line", unit: "messages/min", series: [{name, x: [epoch ms], y: [number | null],
//         low?, high?, is_earlier?}], gaps?: [{from_ms, to_ms, text}], from_ms?, to_ms?, step_ms?}
// (console/charts/services.py). Times are drawn in UTC, as everywhere on these pages. A null breaks
// the line. Colours follow the theme and change with it; charts that htmx brings are drawn when they
// arrive. To draw other data: node.dispatchEvent(new CustomEvent("chart:data", {detail: spec})).
// A chart with a URL is loaded again as ticks arrive, not more often than it would change.
const PALETTES = {
  light: ["#3b52c4", "#d9480f", "#2b8a3e", "#9c36b5", "#c2255c", "#0c8599", "#946200", "#495057"],
  dark: ["#97a8ff", "#ff9a5c", "#69db7c", "#da94f0", "#ff8fb1", "#4fd0e0", "#f2c14e", "#b8c2cc"],
};
const DASHES = ["solid", "dash", "dot"]; // more series than colours: told apart by the line
const CONFIG = {
  displaylogo: false,
  displayModeBar: false,
  // Nothing of a chart goes to another host: Plotly offers by itself to upload it to its cloud.
  showSendToCloud: false,
  plotlyServerURL: "",
  topojsonURL: "",
  responsive: true,
};
const PAUSE_MS = 15000; // between two loads of a chart, at least
const drawn = new Map(); // node → spec
const loads = new WeakMap(); // node → when it was loaded last

// Plotly reads only old notations of colours; the page's are light-dark(), oklch(), color-mix().
function plain(name) {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const pen = canvas.getContext("2d");
  pen.fillStyle = getComputedStyle(probe).color;
  probe.remove();
  pen.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha] = pen.getImageData(0, 0, 1, 1).data;
  return `rgba(${red},${green},${blue},${alpha / 255})`;
}

function theme() {
  const root = document.documentElement;
  return {
    palette: PALETTES[root.dataset.bsTheme === "dark" ? "dark" : "light"],
    text: plain("--ink-3"),
    ink: plain("--ink"),
    grid: plain("--grid"),
    line: plain("--line-2"),
    surface: plain("--surface"),
    font: getComputedStyle(document.body).fontFamily,
  };
}

function traces(spec, colours) {
  return [...spec.series.flatMap((series, number) => lines(spec, series, number, colours)), ...gaps(spec, colours)];
}

// A line; around a single one a band from the lowest to the highest value.
function lines(spec, series, number, { palette, text }) {
  const color = series.is_earlier ? text : palette[number % palette.length];
  const line = lineOf(spec, series, number, color, palette.length);
  if (!series.low || series.low.every((low, i) => low === series.high[i])) return [line];
  const edge = { x: line.x, type: "scatter", mode: "lines", line: { width: 0 }, hoverinfo: "skip", showlegend: false };
  const high = { ...edge, y: series.high, fill: "tonexty", fillcolor: faded(color) };
  return [{ ...edge, y: series.low }, high, line];
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

function lineOf(spec, series, number, color, colors) {
  const dash = series.is_earlier ? "dot" : DASHES[Math.floor(number / colors) % DASHES.length];
  return {
    name: escaped(series.name),
    x: series.x.map(utc),
    y: series.y,
    hovertemplate: `%{y:,.5~g} ${spec.unit}<extra>${escaped(series.name)}</extra>`,
    type: "scatter",
    // A point between two gaps has no line to be seen by.
    mode: series.y.some((y, i) => alone(series.y, i)) ? "lines+markers" : "lines",
    marker: { color, size: series.y.map((y, i) => (alone(series.y, i) ? 5 : 0)) },
    line: { color, dash, width: series.is_earlier ? 1.25 : 1.75 },
    connectgaps: false,
  };
}

// Plotly turns numbers into the browser's own time, and takes such texts as they are.
const utc = (ms) => new Date(ms).toISOString().slice(0, 23).replace("T", " ");
const missing = (y) => y === null || y === undefined;
const alone = (ys, i) => !missing(ys[i]) && missing(ys[i - 1]) && missing(ys[i + 1]);
// Plotly reads a few tags in its texts; names are data.
const escaped = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;");

// The ticks of the figures: whole numbers for what is counted, and 0.2 for a fifth, not "200m".
function scale(spec) {
  const told = spec.series.flatMap((series) => series.y).filter((y) => !missing(y));
  const top = told.reduce((most, y) => Math.max(most, y), 0);
  const ticks = { tickformat: top < 1000 ? ",.4~g" : "~s" };
  const few = top < 10 && told.every(Number.isInteger);
  if (few) Object.assign(ticks, { tick0: 0, dtick: 1 });
  return top > 0 ? ticks : { ...ticks, range: [0, 1] };
}

function layout(spec, colours, node) {
  const axis = {
    gridcolor: colours.grid,
    linecolor: colours.line,
    zerolinecolor: colours.grid,
    automargin: true,
  };
  return {
    height: node.clientHeight,
    margin: { l: 8, r: 8, t: 8, b: 8 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: colours.text, family: colours.font, size: 11 },
    hovermode: "x unified",
    hoverlabel: { bgcolor: colours.surface, bordercolor: colours.line, font: { color: colours.ink } },
    showlegend: spec.series.length > 1,
    legend: { orientation: "h", y: -0.15, yanchor: "top", x: 0, itemwidth: 30 },
    xaxis: {
      ...axis,
      type: "date",
      showgrid: false,
      nticks: 6,
      spikecolor: colours.text,
      spikethickness: -1, // no outline
      spikedash: "dot",
      ...(spec.to_ms ? { range: [utc(spec.from_ms), utc(spec.to_ms)] } : {}),
    },
    yaxis: { ...axis, ...scale(spec), nticks: 5, title: { text: spec.unit, standoff: 8 }, rangemode: "tozero" },
  };
}

function draw(node, spec) {
  const colours = theme();
  drawn.set(node, spec);
  window.Plotly.react(node, traces(spec, colours), layout(spec, colours, node), CONFIG);
}

function mount(node) {
  if (drawn.has(node) || loads.has(node)) return;
  node.addEventListener("chart:data", (event) => draw(node, event.detail));
  if (node.dataset.src) return void load(node);
  const data = document.getElementById(node.dataset.chart);
  if (data) draw(node, JSON.parse(data.textContent));
}

async function load(node) {
  loads.set(node, Date.now());
  let spec = null;
  try {
    const answer = await fetch(node.dataset.src, { headers: { Accept: "application/json" } });
    if (answer.ok && !answer.redirected) spec = await answer.json();
  } catch {
    // No connection: the note says so, and the next tick tries again.
  }
  if (!node.isConnected) return;
  const note = node.querySelector("[data-chart-note]");
  if (spec?.series.length) {
    note?.remove();
    draw(node, spec);
  } else if (note) {
    note.textContent = spec ? note.dataset.none : note.dataset.failed;
    note.hidden = false;
  }
}

function reload(node) {
  const pause = Math.max(PAUSE_MS, drawn.get(node)?.step_ms ?? 0);
  if (Date.now() - (loads.get(node) ?? 0) >= pause) load(node);
}

document.body.addEventListener("tick", () => {
  if (!document.hidden) document.querySelectorAll(".chart[data-src]").forEach(reload);
});

function mountAll() {
  for (const node of drawn.keys()) {
    if (node.isConnected) continue;
    window.Plotly.purge(node);
    drawn.delete(node);
  }
  document.querySelectorAll(".chart").forEach(mount);
}

mountAll();
new MutationObserver((changes) => {
  const isChart = (node) => node.nodeType === 1 && (node.matches(".chart") || node.querySelector(".chart"));
  if (changes.some((change) => [...change.addedNodes].some(isChart))) mountAll();
}).observe(document.body, { childList: true, subtree: true });
new MutationObserver(() => drawn.forEach((spec, node) => draw(node, spec))).observe(
  document.documentElement,
  { attributes: true, attributeFilter: ["data-bs-theme"] },
);
