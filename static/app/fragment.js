// HTML that the server rendered, as nodes: scripts in it do not run.
const parsed = (html) => new DOMParser().parseFromString(html, "text/html").body;

export const nodes = (html) => [...parsed(html).childNodes];
export const tableRow = (html) => parsed(`<table><tbody>${html}</tbody></table>`).querySelector("tr");
