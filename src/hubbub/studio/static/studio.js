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

/** A form whose answer stands beside it and follows what is filled in. */
function follow(form) {
  const live = form.getAttribute("data-live"); // not form.dataset: a field of that name stands before it
  const into = document.getElementById(form.getAttribute("data-into"));
  let timer = 0;
  let asking = null;

  const question = () => {
    const fields = new FormData(form);
    const words = new URLSearchParams();
    for (const [name, value] of fields) if (typeof value === "string") words.append(name, value);
    return words;
  };

  async function ask() {
    asking?.abort();
    asking = new AbortController();
    try {
      const answer = await fetch(`${live}?${question()}`, { signal: asking.signal });
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
    if (into.querySelector(":active")) {
      // Somebody presses a button in it: it stays until that is done.
      document.addEventListener("pointerup", () => setTimeout(show, 50, text), { once: true });
      return;
    }
    const opened = new Set([...into.querySelectorAll("details[open]")].map((each) => each.firstElementChild.textContent));
    const focused = document.activeElement?.id;
    const place = into.scrollTop;
    into.innerHTML = text; // made by the studio's own templates, every word escaped
    for (const each of into.querySelectorAll("details")) {
      if (opened.has(each.firstElementChild.textContent)) each.open = true;
    }
    into.scrollTop = place;
    if (focused && into.querySelector(`#${CSS.escape(focused)}`)) document.getElementById(focused).focus();
    copying(into);
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
    if (into.contains(event.target)) return;
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
  }
  form.addEventListener("input", later);
  form.addEventListener("change", later);
  wait();
}

function status(place, words) {
  const line = document.createElement("p");
  line.className = "refused";
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
  });
}

for (const range of document.querySelectorAll("input.range")) slide(range);
for (const form of document.querySelectorAll("form[data-live]")) follow(form);
for (const place of document.querySelectorAll(".drop")) dropping(place);
copying(document);
const work = document.getElementById("work");
if (work) watch(work);
