// Put a live figure, with its sliders, in the place of each picture.
for (const script of document.querySelectorAll("script[data-figure]")) {
  const place = document.getElementById(script.dataset.figure)
  const spec = JSON.parse(script.textContent)
  window.vegaEmbed(place, spec, { actions: false, renderer: "svg" })
}
