"use strict";
// Without this script, every page still shows all its content; the script adds selection, sorting and search.

const words = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);
const holds = (text, wanted) => wanted.every((word) => text.includes(word));

function number(text) {
  const found = text.replace(/−/g, "-").replace(/[,\u202f\u2009\u00a0]/g, "").match(/^[^\d.+-]{0,2}([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)/i);
  return found ? parseFloat(found[1]) : NaN;
}

// Tables: a button in each heading sorts by its column; empty cells stay last.
function sortable(table) {
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  const bodies = [...table.tBodies];
  table.tHead.querySelectorAll("math").forEach((math) => {  // without a label, a formula does not name the button
    math.setAttribute("role", "math");
    math.setAttribute("aria-label", math.textContent);
  });
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    if (!button.textContent.trim()) button.setAttribute("aria-label", `Sort by column ${column + 1}`);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const sign = down ? -1 : 1;
      bodies.forEach((body) => {  // a group keeps its heading, and a row stays in its group
        const rows = [...body.rows].filter((row) => !row.querySelector("[scope=rowgroup]"));
        const entries = rows.map((row) => {
          const text = row.cells[column] ? row.cells[column].textContent.trim() : "";
          return { row, text, value: number(text), empty: text === "" || text === "–" || text === "—" };
        });
        const filled = entries.filter((entry) => !entry.empty);
        const numeric = filled.every((entry) => !Number.isNaN(entry.value));
        filled.sort((a, b) => sign * (numeric ? a.value - b.value : a.text < b.text ? -1 : a.text > b.text ? 1 : 0));
        body.append(...[...filled, ...entries.filter((entry) => entry.empty)].map((entry) => entry.row));
      });
    });
  });
}

// The ledger: rows that fit all choices are shown, and the choices are written into the address.
function ledger(form) {
  const rows = [...document.querySelectorAll("#rows > details")];
  const texts = rows.map(() => null);
  const count = document.getElementById("count");
  const names = [...form.elements].map((element) => element.name).filter(Boolean);
  const apply = () => {
    const wanted = Object.fromEntries(names.map((name) => [name, form.elements[name].value]));
    const search = words(wanted.search);
    const restricted = names.filter((name) => name !== "search" && wanted[name]);
    let shown = 0;
    rows.forEach((row, index) => {
      let fits = restricted.every((name) =>
        name === "chapter" ? row.dataset.chapter.split(" ").includes(wanted.chapter) : row.dataset[name] === wanted[name]);
      if (fits && search.length) {
        texts[index] = texts[index] || `${row.id} ${row.textContent}`.toLowerCase();
        fits = holds(texts[index], search);
      }
      row.hidden = !fits;
      shown += fits;
    });
    count.textContent = shown === rows.length ? `${shown} rows` : `${shown} of ${rows.length} rows`;
    const query = new URLSearchParams(names.filter((name) => wanted[name]).map((name) => [name, wanted[name]])).toString();
    try {
      history.replaceState(null, "", `${query ? `?${query}` : location.pathname}${location.hash}`);
    } catch { /* some browsers do not change the address of a page that is opened from a folder */ }
  };
  new URLSearchParams(location.search).forEach((value, name) => {
    if (names.includes(name)) form.elements[name].value = value;
  });
  let waiting = 0;
  form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, 80); });
  form.addEventListener("reset", () => setTimeout(apply));
  form.addEventListener("submit", (event) => event.preventDefault());
  apply();
  const open = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const row = target && target.closest("details.row");
    if (!row) return;
    if (row.hidden) { form.reset(); setTimeout(open, 10); return; }
    row.open = true;
    row.scrollIntoView({ block: "start" });
  };
  window.addEventListener("hashchange", open);
  open();
}

// Lists: rows that contain all words of the search are shown.
function narrow(input) {
  const rows = [...document.getElementById(input.dataset.narrow).tBodies[0].rows];
  const count = document.querySelector(`[data-count="${input.dataset.narrow}"]`);
  const apply = () => {
    const wanted = words(input.value);
    let shown = 0;
    rows.forEach((row) => { row.hidden = !holds(row.textContent.toLowerCase(), wanted); shown += !row.hidden; });
    count.textContent = shown === rows.length ? `${shown} ${input.dataset.narrow}` : `${shown} of ${rows.length} ${input.dataset.narrow}`;
  };
  input.form.addEventListener("submit", (event) => event.preventDefault());
  input.addEventListener("input", apply);
  apply();
}

// The graph: if a node is chosen, only the nodes that it depends on and that depend on it are shown.
function graph(box) {
  const down = JSON.parse(document.getElementById("edges").textContent);
  const up = {};
  Object.entries(down).forEach(([key, below]) => below.forEach((other) => (up[other] = up[other] || []).push(key)));
  const items = new Map([...box.querySelectorAll("li")].map((item) => [item.dataset.key, item]));
  const status = document.getElementById("chosen");
  const find = document.querySelector("input[name=find]");
  const reach = (start, edges) => {
    const found = new Set();
    const front = [start];
    while (front.length) (edges[front.pop()] || []).forEach((key) => { if (!found.has(key)) { found.add(key); front.push(key); } });
    return found;
  };
  let chosen = "";
  const show = () => {
    const wanted = words(find.value);
    const connected = chosen ? new Set([chosen, ...reach(chosen, down), ...reach(chosen, up)]) : null;
    items.forEach((item, key) => {
      item.hidden = connected ? !connected.has(key) : !holds(key.toLowerCase(), wanted);
      item.classList.toggle("chosen", key === chosen);
      item.firstElementChild.setAttribute("aria-pressed", String(key === chosen));
    });
    status.textContent = chosen ? `${chosen}: depends on ${reach(chosen, down).size}, used by ${reach(chosen, up).size}.` : "";
  };
  const choose = (key) => {
    chosen = key === chosen || !items.has(key) ? "" : key;
    try { history.replaceState(null, "", chosen ? `#${encodeURIComponent(chosen)}` : location.pathname); } catch { /* as in the ledger */ }
    show();
  };
  items.forEach((item, key) => item.firstElementChild.addEventListener("click", () => choose(key)));
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && chosen) choose(chosen); });
  find.addEventListener("input", () => { chosen = ""; show(); });
  find.form.addEventListener("submit", (event) => event.preventDefault());
  const start = decodeURIComponent(location.hash.slice(1));
  if (items.has(start)) { chosen = start; show(); items.get(start).scrollIntoView({ block: "nearest" }); }
}

// Search over all pages: its entries are loaded when the box gets the focus.
let everything = null;
function found(rows) { everything = rows.map((row) => [...row, row.slice(1).join(" ").toLowerCase()]); }

// Returns the sentence with most of the words, cut at blanks if it is long.
function excerpt(text, wanted) {
  const matches = (sentence) => wanted.filter((word) => sentence.toLowerCase().includes(word)).length;
  const sentence = (text.match(/.+?(?:[.?!:] (?=[A-Z])|$)/g) || []).reduce((best, other) => (matches(other) > matches(best) ? other : best), "").trim() || text;
  if (sentence.length <= 220) return sentence;
  const lower = sentence.toLowerCase();
  const first = Math.min(...wanted.map((word) => lower.indexOf(word)).filter((offset) => offset >= 0), sentence.length);
  const begin = first > 120 ? sentence.indexOf(" ", first - 80) + 1 : 0;
  const end = sentence.indexOf(" ", begin + 220);
  return `${begin ? "…" : ""}${sentence.slice(begin, end < 0 ? undefined : end)}${end < 0 ? "" : " …"}`;
}
function marked(text, wanted) {
  const words = [...wanted].sort((a, b) => b.length - a.length).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return text.split(new RegExp(`(${words.join("|")})`, "i")).map((piece, index) => {
    if (index % 2 === 0) return piece;
    const mark = document.createElement("mark");
    mark.textContent = piece;
    return mark;
  });
}
function enableSearch(form) {
  const input = form.querySelector("input");
  const results = form.querySelector(".results");
  const show = () => {
    const wanted = words(input.value);
    results.hidden = !wanted.length || !everything;
    if (results.hidden) return;
    const hits = everything.filter((row) => holds(row[3], wanted));
    const phrase = wanted.join(" ");
    const rank = (row) => (holds(row[1].toLowerCase(), wanted) ? 0 : row[3].includes(phrase) ? 1 : 2);
    hits.sort((a, b) => rank(a) - rank(b));
    results.replaceChildren(`${hits.length} found`, ...hits.slice(0, 30).map(([address, title, text]) => {
      const link = document.createElement("a");
      link.href = input.dataset.root + address;
      const quotation = document.createElement("span");
      quotation.append(...marked(excerpt(text, wanted), wanted));
      link.append(title, quotation);
      return link;
    }));
  };
  const load = () => {
    if (document.getElementById("everything")) return;
    const script = document.createElement("script");
    script.id = "everything";
    script.src = `${input.dataset.root}search.js`;
    script.onload = show;
    document.head.append(script);
  };
  form.hidden = false;
  input.addEventListener("focus", load);
  input.addEventListener("input", () => { load(); show(); });
  form.addEventListener("submit", (event) => { event.preventDefault(); const first = results.querySelector("a"); if (first) first.click(); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") results.hidden = true;
    if (event.key !== "/" || event.target.closest("input, select, textarea")) return;
    event.preventDefault();
    input.focus();
  });
  document.addEventListener("click", (event) => { if (!form.contains(event.target)) results.hidden = true; });
}

// Marks what is wider than the window, which can be scrolled sideways.
const wide = () => document.querySelectorAll(".scroll, .picture").forEach((box) => box.classList.toggle("wide", box.scrollWidth > box.clientWidth + 1));
window.addEventListener("resize", wide);
window.addEventListener("load", wide);

const contents = document.querySelector(".contents details");
if (contents && window.matchMedia("(max-width: 60rem)").matches) contents.open = false;
document.querySelectorAll("form.find").forEach(enableSearch);
document.querySelectorAll("table.sortable").forEach(sortable);
document.querySelectorAll("input[data-narrow]").forEach(narrow);
if (document.getElementById("filters")) ledger(document.getElementById("filters"));
if (document.getElementById("graph")) graph(document.getElementById("graph"));
