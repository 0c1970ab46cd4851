// Fields of a form that depend on another one: they are shown only for some of its values:
//   <fieldset data-shown-for="security_protocol" data-values="SSL SASL_SSL">…</fieldset>
// Without JavaScript all parts are shown.
function update(form) {
  for (const part of form.querySelectorAll("[data-shown-for]")) {
    const field = form.elements[part.dataset.shownFor];
    const hasError = part.querySelector(".is-invalid") !== null;
    part.hidden = !hasError && !part.dataset.values.split(" ").includes(field.value);
  }
}

for (const form of document.forms) {
  if (!form.querySelector("[data-shown-for]")) continue;
  update(form);
  form.addEventListener("change", () => update(form));
}
