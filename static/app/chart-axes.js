// The axes of a chart, as Plotly draws them: their ranges, ticks and colours. The y axis begins at 0.
// (chart.js says what is in the description of a chart.)
import { missing, utc } from "./chart-lines.js";

const HEADROOM = 1.055; // above the highest value, as Plotly leaves

export function axes(spec, colours) {
  const axis = {
    gridcolor: colours.grid,
    linecolor: colours.line,
    zerolinecolor: colours.grid,
    automargin: true,
  };
  return { xaxis: { ...axis, ...xAxis(spec, colours) }, yaxis: { ...axis, ...yAxis(spec) } };
}

function xAxis(spec, { text }) {
  return {
    type: "date",
    showgrid: false,
    nticks: 6,
    tickangle: 0,
    spikecolor: text,
    spikethickness: -1, // no outline
    spikedash: "dot",
    ...(spec.to_ms ? { range: [utc(spec.from_ms), utc(spec.to_ms)] } : {}),
  };
}

// The ticks are whole numbers for what is counted, and 0.2 for a fifth, not "200m".
function yAxis(spec) {
  const top = highest(spec);
  const ticks = { tickformat: top < 1000 ? ",.4~g" : "~s", nticks: 5, rangemode: "tozero" };
  const few = top < 10 && valuesOf(spec).every(Number.isInteger);
  if (few) Object.assign(ticks, { tick0: 0, dtick: 1 });
  return top > 0 ? ticks : { ...ticks, range: [0, 1] };
}

// The upper end of the y axis.
export const yEnd = (spec) => highest(spec) * HEADROOM || 1;

// The values that are drawn: those of the lines, and the upper edges of the bands.
const valuesOf = (spec) => spec.series.flatMap(({ y, high }) => [...y, ...(high ?? [])]).filter((y) => !missing(y));
const highest = (spec) => valuesOf(spec).reduce((most, y) => Math.max(most, y), 0);
