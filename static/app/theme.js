// The theme: light, dark or that of the system. Runs before the first paint, to avoid a flash.
(() => {
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const choices = ["auto", "light", "dark"];

  function chosen() {
    try {
      const kept = localStorage.getItem("theme");
      return choices.includes(kept) ? kept : "auto";
    } catch {
      return "auto"; // the browser forbids storage
    }
  }

  function apply() {
    const choice = chosen();
    root.dataset.themeChoice = choice;
    root.dataset.bsTheme = choice === "auto" ? (system.matches ? "dark" : "light") : choice;
  }

  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-toggle]")) return;
    try {
      localStorage.setItem("theme", choices[(choices.indexOf(chosen()) + 1) % choices.length]);
    } catch {
      return;
    }
    apply();
  });
  system.addEventListener("change", apply);
  apply();
})();
