// Keeps every <time class="age" data-at-ms> true while the page stands open.
const words = new Intl.RelativeTimeFormat(document.documentElement.lang || "en", {
  numeric: "always",
  style: "narrow",
});
const now = new Intl.RelativeTimeFormat(document.documentElement.lang || "en", { numeric: "auto" });

export function age(atMs, nowMs = Date.now()) {
  const seconds = Math.floor((nowMs - atMs) / 1000);
  if (seconds <= 0) return now.format(0, "second");
  if (seconds < 120) return words.format(-seconds, "second");
  if (seconds < 7200) return words.format(-Math.floor(seconds / 60), "minute");
  if (seconds < 172800) return words.format(-Math.floor(seconds / 3600), "hour");
  return words.format(-Math.floor(seconds / 86400), "day");
}

export function refresh(root = document) {
  for (const element of root.querySelectorAll("time.age[data-at-ms]")) {
    const text = age(Number(element.dataset.atMs));
    // A banner says the moment, too: its age must not be read out again at every second.
    if (element.closest("[role=alert], [role=status]")) element.ariaHidden = "true";
    if (element.textContent !== text) element.textContent = text;
  }
}

setInterval(() => document.hidden || refresh(), 1000);
document.addEventListener("visibilitychange", () => refresh());
document.addEventListener("htmx:after:swap", () => refresh());
refresh();
