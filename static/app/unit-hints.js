// Says how a value with a unit is understood while it is typed, before the review.
//   <input data-units="URL" data-units-unit="ms"> <input data-units="URL" data-units-of="field with the name">
//   <textarea data-units="URL"> with lines of name=value; the URL answers {"text": "7 days = …", "error": ""}
const WAIT_MS = 250;

function watch(input) {
  const { units: url, unitsUnit: unit = "", unitsOf: of = "" } = input.dataset;
  const nameField = of ? input.form.elements[of] : null;
  const note = document.createElement("div");
  note.setAttribute("role", "status");
  input.after(note);
  let timer = 0;
  let loading = null;

  async function ask() {
    loading?.abort();
    loading = new AbortController();
    const { signal } = loading;
    const query = new URLSearchParams({ value: input.value, unit, name: nameField?.value ?? "" });
    let answer = { text: "", error: "" }; // if no answer comes: the server checks the value again at the review
    try {
      const response = await fetch(`${url}?${query}`, { signal });
      if (response.ok) answer = await response.json();
    } catch (error) {
      if (error.name === "AbortError") return;
    }
    note.className = answer.error ? "invalid-feedback d-block" : "form-hint";
    note.textContent = answer.error || answer.text;
  }

  const askLater = () => {
    clearTimeout(timer);
    timer = setTimeout(ask, WAIT_MS);
  };
  input.addEventListener("input", askLater);
  nameField?.addEventListener("input", askLater);
  if (/[a-z]/i.test(input.value) && !input.parentElement.querySelector(".invalid-feedback")) ask();
}

document.querySelectorAll("[data-units]").forEach(watch);
