// Keeps the text of every <time class="age" data-at-ms> up to date while the page is open.
const relative = new Intl.RelativeTimeFormat(document.documentElement.lang || "en", {
  numeric: "always",
  style: "narrow",
});
const justNow = new Intl.RelativeTimeFormat(document.documentElement.lang || "en", { numeric: "auto" });

export function age(atMs, nowMs = Date.now()) {
  const seconds = Math.floor((nowMs - atMs) / 1000);
  if (seconds <= 0) return justNow.format(0, "second");
  if (seconds < 120) return relative.format(-seconds, "second");
  if (seconds < 7200) return relative.format(-Math.floor(seconds / 60), "minute");
  if (seconds < 172800) return relative.format(-Math.floor(seconds / 3600), "hour");
  return relative.format(-Math.floor(seconds / 86400), "day");
}

export function refresh(root = document) {
  for (const element of root.querySelectorAll("time.age[data-at-ms]")) {
    const text = age(Number(element.dataset.atMs));
    // Screen readers read each change of a banner: not its age, which changes every second.
    if (element.closest("[role=alert], [role=status]")) element.ariaHidden = "true";
    if (element.textContent !== text) element.textContent = text;
  }
}

setInterval(() => document.hidden || refresh(), 1000);
document.addEventListener("visibilitychange", () => refresh());
document.addEventListener("htmx:after:swap", () => refresh());
refresh();
