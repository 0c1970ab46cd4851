// Keeps a chart current: a node with data-src asks, as ticks arrive, for what is newer than its last
// point (console/groups/history.py), and no more often than the chart would change (step_ms).
const PAUSE_MS = 15000;
const WHOLE_MS = 10 * 60000; // which lines belong on the chart is decided over its whole range
const charts = new WeakMap(); // node → what is drawn, and when it was asked for

function chart(node) {
  if (!charts.has(node)) {
    const spec = JSON.parse(document.getElementById(node.dataset.chart).textContent);
    charts.set(node, { spec, askedAt: performance.timeOrigin, wholeAt: performance.timeOrigin });
  }
  return charts.get(node);
}

// The lines with the newer points behind the older; null where other lines belong on the chart.
export function joined(spec, newer) {
  const [total, ...topics] = newer.series;
  const shown = new Set(spec.series.slice(1).map((line) => line.name));
  const isNew = topics.some((line) => !shown.has(line.name));
  const isAlone = spec.series.length === 1;
  if (isAlone ? topics.length > 1 || topics.some((line) => line.name !== spec.series[0].name)
    : isNew && spec.series.length < spec.series_max) return null;
  const series = spec.series.map((line, number) => {
    const more = number === 0 ? total : topics.find((topic) => topic.name === line.name);
    const kept = line.x.map((x, i) => i).filter((i) => line.x[i] >= newer.from_ms && line.x[i] < total.x[0]);
    return {
      name: line.name,
      x: [...kept.map((i) => line.x[i]), ...total.x],
      y: [...kept.map((i) => line.y[i]), ...(more?.y ?? total.x.map(() => null))],
    };
  });
  return { ...spec, series };
}

async function refresh(node) {
  const drawn = chart(node);
  if (Date.now() - drawn.askedAt < Math.max(PAUSE_MS, drawn.spec.step_ms ?? 0)) return;
  drawn.askedAt = Date.now();
  const last = drawn.spec.series[0]?.x.at(-1);
  const isWhole = !last || Date.now() - drawn.wholeAt >= WHOLE_MS;
  const url = isWhole ? node.dataset.src : `${node.dataset.src}&since=${last}`;
  const response = await fetch(url, { headers: { Accept: "application/json" } });
  if (!response.ok || response.redirected) return;
  const answer = await response.json();
  const spec = answer.kind ? answer : joined(drawn.spec, answer);
  if (answer.kind) drawn.wholeAt = Date.now();
  if (!spec) drawn.wholeAt = 0;
  else {
    drawn.spec = spec;
    node.dispatchEvent(new CustomEvent("chart:data", { detail: spec }));
  }
}

document.body.addEventListener("tick", () => {
  document.querySelectorAll(".chart[data-src]").forEach(refresh);
});
