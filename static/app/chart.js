// Draws every chart of the console. A page names its data, or the URL that has it:
//
//   {{ spec|json_script:"chart-messages" }}
//   <div class="chart" data-chart="chart-messages" role="img" aria-label="…"></div>
//   <div class="chart" data-src="/c/local/chart?…" role="img" aria-label="…"></div>
//
// spec = {kind: "line", unit: "messages/min", series: [{name, x: [epoch ms], y: [number | null],
//         low?, high?, is_sum?, is_earlier?, name_now?, is_other?}], gaps?: [{from_ms, to_ms, text}], from_ms?, to_ms?,
//         step_ms?, written?: text of a note} (console/charts/make_chart.py). Times are drawn in UTC, as everywhere on
//         these pages. A null breaks the line.
// Colours follow the theme and change with it; charts that htmx brings are drawn when they arrive. To draw
// other data: node.dispatchEvent(new CustomEvent("chart:data", {detail: spec})). A chart with a URL is loaded
// again as ticks arrive, not more often than it would change; its width in the URL decides on its points.
// Plotly (1.2 MB) is loaded when the first chart with values comes into view, but only after the page
// was painted and its files were loaded: to run it blocks the browser for a while. Until a chart is
// drawn, a frame of the same size is in its place (templates/charts/frame.html), with its lines (chart-preview.js).
import { axes } from "./chart-axes.js";
import { palette, theme } from "./chart-colors.js";
import { traces } from "./chart-lines.js";
import { preview } from "./chart-preview.js";

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
const NEAR = "300px"; // a chart so near to the window is in view
const WIDTH_STEP = 100; // px: charts of about the same width have points at the same times
const drawn = new Map(); // node → spec
const loads = new WeakMap(); // node → when it was loaded last

function layout(spec, colours, node) {
  return {
    height: node.clientHeight,
    margin: { l: 8, r: 8, t: 8, b: 8 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: colours.text, family: colours.font, size: 11 },
    hovermode: "x unified",
    hoverlabel: { bgcolor: colours.surface, bordercolor: colours.line, font: { color: colours.ink } },
    showlegend: spec.series.length > 1,
    legend: { orientation: "h", y: -0.22, yanchor: "top", x: 0, itemwidth: 30 },
    ...axes(spec, colours),
  };
}

// A tab in the background paints nothing: its charts wait until it is shown.
const painted = new Promise((resolve) => {
  const paint = () => requestAnimationFrame(() => setTimeout(resolve));
  if (document.readyState === "complete") paint();
  else window.addEventListener("load", paint, { once: true });
});
let loading = null;

function plotly() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = document.querySelector("meta[name=plotly]").content;
    script.onload = () => resolve(window.Plotly);
    script.onerror = reject;
    document.head.append(script);
  });
  return loading;
}

async function draw(node, spec) {
  drawn.set(node, spec);
  const frame = node.querySelector(".chart-frame");
  if (frame) preview(frame, spec, { palette: palette(), text: "var(--ink-3)" });
  await painted;
  const { react } = await plotly();
  if (!node.isConnected || drawn.get(node) !== spec) return; // it got other data meanwhile
  const colours = theme();
  react(node, traces(spec, colours), layout(spec, colours, node), CONFIG);
  dropFrame(node);
}

const dropFrame = (node) => node.querySelector(".chart-frame")?.remove();

function mount(node) {
  if (drawn.has(node) || loads.has(node)) return;
  node.addEventListener("chart:data", (event) => draw(node, event.detail));
  if (node.dataset.src) return void load(node);
  const data = document.getElementById(node.dataset.chart);
  if (data) draw(node, JSON.parse(data.textContent));
}

async function load(node) {
  loads.set(node, Date.now());
  let [spec, problem] = [null, ""];
  const width = node.clientWidth - (node.clientWidth % WIDTH_STEP);
  try {
    const answer = await fetch(`${node.dataset.src}&width=${width}`, { headers: { Accept: "application/json" } });
    if (answer.ok && !answer.redirected) spec = await answer.json();
    else if (answer.status === 503) problem = (await answer.json()).error;
  } catch {
    // No connection: the note says so, and the next tick tries again.
  }
  if (!node.isConnected) return;
  const written = node.parentElement.querySelector("[data-chart-written]");
  if (written && spec) written.hidden = !(written.textContent = (spec.series.length && spec.written) || "");
  const note = node.querySelector("[data-chart-note]");
  if (spec?.series.length) {
    note?.remove();
    draw(node, spec);
  } else if (note) {
    dropFrame(node);
    note.textContent = spec ? note.dataset.none : problem || note.dataset.failed;
    note.hidden = false;
  }
}

function reload(node) {
  const pause = Math.max(PAUSE_MS, drawn.get(node)?.step_ms ?? 0);
  if (Date.now() - (loads.get(node) ?? 0) >= pause) load(node);
}

document.body.addEventListener("tick", () => {
  if (document.hidden) return;
  for (const node of document.querySelectorAll(".chart[data-src]")) if (loads.has(node)) reload(node);
});

const inView = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    inView.unobserve(target);
    mount(target);
  }
}, { rootMargin: NEAR });

function mountAll() {
  for (const node of drawn.keys()) {
    if (node.isConnected) continue;
    window.Plotly?.purge(node);
    drawn.delete(node);
  }
  document.querySelectorAll(".chart").forEach((node) => inView.observe(node));
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
