// What moves in the studio: sliders, answers that follow them, progress, copying, dropping. Pages read without it.

const PAUSE = 60; // milliseconds between a movement and the question
const AGAIN = 220; // until a number that is still being worked out is asked for again

/** A slider moves along stops and writes the exact text beside it; what is typed moves the slider. */
function slide(range) {
  const exact = document.getElementById(range.dataset.for);
  const stops = range.dataset.stops.split(" ");
  const nearest = () => {
    const value = Number(exact.value);
    if (!Number.isFinite(value)) return;
    let best = 0;
    stops.forEach((stop, i) => {
      if (Math.abs(Number(stop) - value) < Math.abs(Number(stops[best]) - value)) best = i;
    });
    range.value = best;
    range.setAttribute("aria-valuetext", exact.value);
  };
  range.min = 0;
  range.max = stops.length - 1;
  range.step = 1;
  range.hidden = false;
  nearest();
  range.addEventListener("input", () => {
    exact.value = stops[Number(range.value)];
    range.setAttribute("aria-valuetext", exact.value);
  });
  exact.addEventListener("input", nearest);
}

/** What was filled in, without what is empty. */
function filled(form, all) {
  const words = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (typeof value === "string" && (all || value)) words.append(name, value);
  }
  return words;
}

/** A form whose answer stands beside it and follows what is filled in. */
function follow(form) {
  const live = form.getAttribute("data-live"); // not form.dataset: a field of that name stands before it
  const into = document.getElementById(form.getAttribute("data-into"));
  let timer = 0;
  let asking = null;

  async function ask() {
    asking?.abort();
    asking = new AbortController();
    try {
      const words = filled(form, true);
      words.delete("questions_text"); // a file to be, and no part of the release
      const answer = await fetch(`${live}?${words}`, { signal: asking.signal });
      if (answer.status === 403) location.reload(); // the studio was started anew, and says so
      else if (answer.ok) show(await answer.text());
      else status(into, "This cannot be worked out; change what was filled in last.");
    } catch (error) {
      if (error.name !== "AbortError") {
        into.querySelector(".answer")?.setAttribute("data-lost", "");
        status(into, "The studio does not answer; was it stopped in its terminal?");
      }
    }
  }

  function show(text) {
    const place = into.scrollTop;
    const open = [...into.querySelectorAll("details[open] > summary")].map((each) => each.textContent);
    const focused = document.activeElement?.id;
    const held = into.contains(document.activeElement) && focused;
    into.innerHTML = text;
    for (const each of into.querySelectorAll("details > summary")) {
      if (open.includes(each.textContent)) each.parentElement.open = true;
    }
    into.scrollTop = place;
    if (held) document.getElementById(focused)?.focus();
    copying(into);
    marking(form, into);
    const spoken = document.getElementById("spoken");
    const words = into.querySelector("[data-spoken]")?.getAttribute("data-spoken");
    if (spoken && words && spoken.textContent !== words) spoken.textContent = words;
    wait();
  }

  function wait() {
    if (into.querySelector("[data-again]")) {
      clearTimeout(timer);
      timer = setTimeout(ask, AGAIN);
    }
  }

  function later(event) {
    if (form.hasAttribute("data-keep")) keep(form);
    if (event && into.contains(event.target) && event.target.id !== "accept-weak") return;
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
  }
  form.addEventListener("input", later);
  form.addEventListener("change", later);
  form.addEventListener("changed", () => later());
  marking(form, into);
  wait();
}

/** What is typed stands in the address: a reload, a way back and a second tab have all of it. */
const FLEETING = ["seen", "accept_weak", "refused", "questions_text"];
function keep(form) {
  const words = filled(form, false);
  for (const name of FLEETING) words.delete(name);
  words.set("step", form.getAttribute("data-step"));
  history.replaceState(null, "", `${form.getAttribute("action")}?${words}`);
}

/** Mark the field that a sentence is about, where somebody has been already. */
function marking(form, into) {
  for (const each of form.querySelectorAll("[aria-invalid]")) each.removeAttribute("aria-invalid");
  const refused = document.querySelector("#refused [data-mark]")?.getAttribute("data-mark");
  const wrong = into.querySelector("[data-wrong]")?.getAttribute("data-wrong");
  for (const name of [refused, wrong]) {
    const place = name && document.getElementById(name);
    if (!place) continue;
    const field = place.matches("input, select, textarea") ? place : place.querySelector("input, select") ?? place;
    const untouched = name !== refused && !field.value && form.getAttribute("data-step") !== "3";
    if (!untouched) field.setAttribute("aria-invalid", "true");
  }
}

/** The link beside a sentence leads to its field, on whichever step that is. */
function leading(form) {
  form.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-mark]");
    const field = link && document.getElementById(link.getAttribute("data-mark"));
    if (!field) return;
    event.preventDefault();
    const panel = field.closest(".panel");
    if (panel?.hidden) go(form, panel.id.slice(-1), true);
    for (let each = field.closest("details"); each; each = each.parentElement.closest("details")) each.open = true;
    field.scrollIntoView({ block: "center" });
    (field.matches("input, select, textarea, button, [tabindex]") ? field : field.querySelector("input, select"))?.focus();
  });
}

/** The steps of a form, without a new page. */
function go(form, step, push) {
  form.setAttribute("data-step", step);
  for (const panel of form.querySelectorAll(".panel")) panel.hidden = panel.id !== `step-${step}`;
  form.querySelectorAll(".stepper li").forEach((each, i) => {
    const number = String(i + 1);
    if (number === step) each.setAttribute("aria-current", "step");
    else each.removeAttribute("aria-current");
    each.classList.toggle("done", number < step);
  });
  if (push) history.pushState(null, "", location.href);
  keep(form);
}

function stepping(form) {
  const stepped = form.querySelectorAll(".panel").length > 0;
  form.addEventListener("submit", (event) => {
    const by = event.submitter;
    if (!stepped || by?.name !== "step" || by.value === "1") return;
    event.preventDefault();
    if (by.classList.contains("unseen")) return; // Enter in a field: the answer follows by itself
    go(form, by.value, true);
    scrollTo(0, 0);
    const panel = document.getElementById(`step-${by.value}`);
    panel.querySelector("input:checked, select, input:not([type=hidden])")?.focus({ preventScroll: true });
  });
  if (!stepped) return;
  addEventListener("popstate", () => {
    const step = new URLSearchParams(location.search).get("step");
    if (step === "2" || step === "3") go(form, step, false);
    else location.reload();
  });
}

/** Columns: found by a part of their names, chosen by a tick, each with the fields of its bins. */
function choosing(list) {
  const form = list.closest("form");
  const chosen = document.getElementById("chosen");
  const find = document.getElementById("find");
  const none = document.getElementById("none-found");
  const away = new Map(); // the fields of columns that were taken away, as they were
  find.hidden = false;
  find.addEventListener("input", (event) => {
    event.stopPropagation(); // what is looked for is no part of the release
    const part = find.value.trim().toLowerCase();
    let any = false;
    for (const each of list.children) {
      each.hidden = !each.querySelector(".cname").textContent.toLowerCase().includes(part);
      any ||= !each.hidden;
    }
    none.hidden = any;
  });
  find.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    const first = [...list.children].find((each) => !each.hidden && each.querySelector("input"));
    first?.querySelector("input").click();
  });
  const card = (number) => document.getElementById(`bins-${number}`);
  list.addEventListener("change", (event) => {
    const number = event.target.getAttribute("data-column");
    if (number === null) return;
    if (event.target.checked && !card(number)) {
      const made = away.get(number) ?? document.getElementById(`t-${number}`)?.content.firstElementChild.cloneNode(true);
      if (made) chosen.append(made);
      showing(chosen);
    } else if (!event.target.checked && card(number)) {
      away.set(number, card(number));
      card(number).remove();
    }
  });
  chosen.addEventListener("click", (event) => {
    const number = event.target.getAttribute("data-remove");
    if (number === null) return;
    const tick = list.querySelector(`[data-column="${number}"]`);
    tick.click();
    find.focus();
  });
  showing(chosen);
  form.addEventListener("change", (event) => {
    if (event.target.hasAttribute?.("data-shows")) showing(event.target.closest(".bin"));
  });
}

/** Fields that belong to what is chosen beside them. */
function showing(place) {
  for (const each of place.querySelectorAll(".remove")) each.hidden = false;
  for (const by of place.querySelectorAll("[data-shows]")) {
    const what = by.getAttribute("data-shows");
    for (const each of by.closest(".bin").querySelectorAll(`[data-if="${what}"]`)) {
      each.hidden = each.getAttribute("data-is") !== by.value;
      for (const field of each.querySelectorAll("select")) field.disabled = each.hidden;
    }
  }
}

/** Several rows are asked about where a column says who is who; promises have sliders of their own. */
function revealing(form) {
  const who = form.querySelector("#who");
  const several = form.querySelector("#several");
  who?.addEventListener("change", () => {
    if (several) several.hidden = !who.value.startsWith("column:");
  });
  for (const radio of form.querySelectorAll("input[name=promise]")) {
    radio.addEventListener("change", () => {
      for (const each of form.querySelectorAll("[data-promises]")) {
        each.hidden = !each.getAttribute("data-promises").split(" ").includes(radio.value);
      }
    });
  }
  for (const each of form.querySelectorAll(".several .choice input:not([type=radio])")) {
    each.addEventListener("input", () => {
      each.closest(".choice").querySelector("input[type=radio]").checked = true;
    });
  }
  for (const column of form.querySelectorAll("select[data-ranges]")) {
    column.addEventListener("change", () => {
      const one = column.selectedOptions[0];
      for (const part of ["low", "high"]) {
        const field = document.getElementById(`${column.getAttribute("data-ranges")}-${part}`);
        const like = one.getAttribute(`data-${part}`);
        if (field && like && (!field.value || field.hasAttribute("data-suggested"))) {
          field.value = like;
          field.setAttribute("data-suggested", "");
        }
      }
    });
  }
  form.addEventListener("input", (event) => event.target.removeAttribute?.("data-suggested"));
}

/** The private check opens beside the form; what it says is kept nowhere. */
function looking(form) {
  const button = form.querySelector("#private-look");
  const place = document.getElementById("look");
  if (!button || !place) return;
  addEventListener("pagehide", () => place.replaceChildren()); // a page that comes back has none of it
  button.addEventListener("click", async (event) => {
    event.preventDefault();
    place.hidden = false;
    place.replaceChildren();
    status(place, "Looking at the table …", "status");
    const body = filled(form, true);
    const answer = await fetch("/publish/look", { method: "POST", body, headers: { "x-beside": "1" } });
    place.innerHTML = await answer.text();
    place.querySelector("#close-look")?.addEventListener("click", () => {
      place.replaceChildren();
      place.hidden = true;
      button.focus();
    });
    place.scrollIntoView({ block: "nearest" });
    place.querySelector("#close-look")?.focus({ preventScroll: true });
  });
}

function status(place, words, kind = "refused") {
  const line = document.createElement("p");
  line.className = kind;
  line.setAttribute("role", "alert");
  line.textContent = words;
  place.replaceChildren(line);
}

/** Buttons that copy what stands beside them. */
function copying(place) {
  for (const button of place.querySelectorAll("button.copy")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.parentElement.querySelector("pre").textContent);
      button.textContent = "Copied";
    });
  }
}

/** The work under way, as it goes. */
function watch(work) {
  const events = new EventSource(work.dataset.events);
  const stages = [...document.querySelectorAll(".stages li")];
  events.addEventListener("message", (event) => {
    const state = JSON.parse(event.data);
    if (!state.running) {
      events.close();
      location.reload();
      return;
    }
    document.getElementById("work-words").textContent = `${state.words} …`;
    document.getElementById("work-part").value = state.part;
    stages.forEach((each, i) => {
      each.classList.toggle("done", i < state.part);
      if (i === state.part) each.setAttribute("aria-current", "step");
      else each.removeAttribute("aria-current");
    });
  });
}

/** A place to drop files. */
function dropping(place) {
  const input = place.querySelector("input[type=file]");
  for (const name of ["dragenter", "dragover"]) {
    place.addEventListener(name, (event) => {
      event.preventDefault();
      place.classList.add("over");
    });
  }
  for (const name of ["dragleave", "drop"]) place.addEventListener(name, () => place.classList.remove("over"));
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    input.files = event.dataTransfer.files;
    if (place.matches("form") && place.checkValidity()) place.requestSubmit();
  });
}

for (const range of document.querySelectorAll("input.range")) slide(range);
for (const form of document.querySelectorAll("form.asking")) {
  revealing(form);
  stepping(form);
  leading(form);
  looking(form);
}
for (const list of document.querySelectorAll("#every-column")) choosing(list);
for (const form of document.querySelectorAll("form[data-live]")) follow(form);
for (const place of document.querySelectorAll(".drop")) dropping(place);
copying(document);
const work = document.getElementById("work");
if (work) watch(work);
