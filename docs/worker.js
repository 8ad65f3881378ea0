// Browsers start no worker for pages that were opened as files. There, the search runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super()
      this.waiting = []
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.documentElement.appendChild(this.frame)
      const inside = this.frame.contentWindow
      inside.postMessage = data => {
        const event = new MessageEvent("message", { data })
        this.dispatchEvent(event)
        if (this.onmessage) this.onmessage(event)
      }
      const load = source => new Promise((done, failed) => {
        const script = inside.document.createElement("script")
        script.src = source
        script.onload = done
        script.onerror = failed
        inside.document.documentElement.appendChild(script)
      })
      inside.importScripts = (...sources) => sources.reduce((before, each) => before.then(() => load(each)), Promise.resolve())
      this.ready = load(String(address))
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })))
    }

    terminate() {
      this.frame.remove()
    }
  }
}
