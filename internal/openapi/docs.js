"use strict";

const shownAtMost = 200_000; // characters of an answer

// address puts the values of an operation's parameters into its path. What is left empty stays away,
// or is the example when it is required; a query parameter can be sent empty by typing "".
function address(operation) {
  const query = new URLSearchParams();
  let path = operation.dataset.path;
  for (const input of operation.querySelectorAll("input[data-in]")) {
    const { name } = input.dataset;
    if (input.dataset.in === "path") {
      const value = encodeURIComponent(input.value || input.placeholder);
      path = path.replace(`{${name}}`, name === "path" ? value.replaceAll("%2F", "/") : value);
    } else if (input.value !== "" || "required" in input.dataset) {
      query.append(name, input.value === '""' ? "" : input.value || input.placeholder);
    }
  }
  const text = query.toString();
  return text === "" ? path : `${path}?${text}`;
}

// indented lays JSON out without reading its numbers: they may have more digits than JavaScript keeps.
function indented(text) {
  JSON.parse(text); // throws on what is no JSON
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s"[\]{}:,]+/g);
  const [opens, closes] = [/^[[{]$/, /^[\]}]$/];
  let depth = 0;
  const line = (by) => `\n${"  ".repeat((depth += by))}`;
  const laid = tokens.map((token, at) => {
    if (token === ":") return ": ";
    if (token === ",") return token + line(0);
    if (opens.test(token) && !closes.test(tokens[at + 1])) return token + line(1);
    if (closes.test(token) && !opens.test(tokens[at - 1])) return line(-1) + token;
    return token;
  });
  return laid.join("");
}

async function send(operation) {
  const shown = operation.querySelector(".answer");
  const body = operation.querySelector("textarea");
  const credential = document.getElementById("credential").value.trim();
  const headers = {};
  if (credential !== "") headers.Authorization = `Bearer ${credential}`;
  if (body) headers["Content-Type"] = "application/json";
  const { method } = operation.dataset;
  const target = address(operation);
  shown.hidden = false;
  shown.textContent = `${method} ${target}\n…`;
  try {
    const response = await fetch(target, { method, headers, body: body ? body.value : undefined, redirect: "manual" });
    const lines = [`${method} ${target}`, "", `${response.status} ${response.statusText}`];
    for (const [name, value] of response.headers) lines.push(`${name}: ${value}`);
    let text = await response.text();
    try {
      text = indented(text);
    } catch {
      // not JSON: shown as it came
    }
    if (text.length > shownAtMost) text = `${text.slice(0, shownAtMost)}…`;
    shown.textContent = [...lines, "", text].join("\n");
  } catch (error) {
    shown.textContent = `${method} ${target}\n\n${error.message}`;
  }
}

// On a narrow screen the contents are folded away above the page, until they are asked for or used.
const unfold = document.querySelector(".unfold");
const contents = document.getElementById("contents");
function fold(folded) {
  unfold.setAttribute("aria-expanded", String(!folded));
}
unfold.hidden = false;
unfold.addEventListener("click", () => {
  fold(unfold.getAttribute("aria-expanded") === "true");
  contents.parentElement.scrollTop = 0;
});
contents.addEventListener("click", (event) => {
  if (event.target.closest("a")) fold(true);
});
addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || unfold.getAttribute("aria-expanded") === "false") return;
  fold(true);
  if (unfold.checkVisibility()) unfold.focus();
});

// open unfolds what the address names, so that links lead to something visible.
function open() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) target.open = true;
  target?.scrollIntoView();
}

for (const operation of document.querySelectorAll(".operation")) {
  operation.querySelector("button").addEventListener("click", () => send(operation));
}
document.getElementById("filter").addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  for (const item of document.querySelectorAll("nav li")) {
    item.hidden = !item.textContent.toLowerCase().includes(wanted);
  }
});
addEventListener("hashchange", open);
open();
