// The sidebar on small screens, and menus that close by themselves.
const sidebar = document.getElementById("sidebar");
const toggle = document.querySelector("[data-toggle-sidebar]");

function show(open) {
  sidebar?.classList.toggle("is-open", open);
  toggle?.setAttribute("aria-expanded", String(open));
}

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-toggle-sidebar]")) show(!sidebar.classList.contains("is-open"));
  else if (!event.target.closest("#sidebar")) show(false);
  for (const menu of document.querySelectorAll("details[data-menu][open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    show(false);
    for (const menu of document.querySelectorAll("details[data-menu][open]")) menu.open = false;
  }
});
