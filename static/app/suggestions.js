// Buttons that write a common value into a field:
//   <div data-suggestions="id_of_the_field" hidden><button type="button" data-value="1">…</button></div>
for (const row of document.querySelectorAll("[data-suggestions]")) {
  const field = document.getElementById(row.dataset.suggestions);
  const mark = () => {
    for (const button of row.children) {
      button.setAttribute("aria-pressed", String(button.dataset.value === field.value));
    }
  };
  row.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    field.value = button.dataset.value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  });
  field.addEventListener("input", mark);
  row.hidden = false;
  mark();
}
