// The colours of charts: of their lines, by the theme, and of what is around them, by the style sheets.
const PALETTES = {
  light: ["#3b52c4", "#d9480f", "#2b8a3e", "#9c36b5", "#c2255c", "#0c8599", "#946200", "#495057"],
  dark: ["#97a8ff", "#ff9a5c", "#69db7c", "#da94f0", "#ff8fb1", "#4fd0e0", "#f2c14e", "#b8c2cc"],
};

// A CSS variable as rgba(): Plotly cannot read light-dark(), oklch() and color-mix().
function rgba(name) {
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

// The colours of the lines.
export const palette = () => PALETTES[document.documentElement.dataset.bsTheme === "dark" ? "dark" : "light"];

export function theme() {
  return {
    palette: palette(),
    text: rgba("--ink-3"),
    ink: rgba("--ink"),
    grid: rgba("--grid"),
    line: rgba("--line-2"),
    surface: rgba("--surface"),
    font: getComputedStyle(document.body).fontFamily,
  };
}

// A line of an earlier time is grey; if there are several, each has the colour of its line of now, if that
// is in the chart.
export function colorOf(spec, series, number, { palette, text }) {
  if (!series.is_earlier) return palette[number % palette.length];
  const isSingle = spec.series.filter((each) => each.is_earlier).length === 1;
  const now = spec.series.findIndex((each) => !each.is_earlier && !each.is_other && each.name === series.name_now);
  return isSingle || now < 0 ? text : palette[now % palette.length];
}

export const faded = (color, opacity) => {
  const [red, green, blue] = color.startsWith("#") ? color.match(/\w\w/g).map((part) => parseInt(part, 16)) : color.match(/\d+/g);
  return `rgba(${red},${green},${blue},${opacity})`;
};
