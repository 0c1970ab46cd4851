() => {
  // Text of too little contrast: WCAG 2.1 AA wants 4.5, or 3 for large text.
  const pen = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const read = (colour) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const backdrop = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(read(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), read(getComputedStyle(document.documentElement).colorScheme === "dark" ? "#000" : "#fff"));
  };
  const light = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    if (element.closest("svg, .visually-hidden, .skip-link, :disabled, .disabled, script, noscript, template")) continue;
    const style = getComputedStyle(element);
    const back = backdrop(element);
    const text = over(read(style.color), back);
    const [high, low] = [light(text), light(back)].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) {
      found.add(`${ratio.toFixed(2)} ${element.tagName.toLowerCase()}.${element.className}: ${walker.currentNode.data.trim().slice(0, 40)}`);
    }
  }
  return [...found];
}
