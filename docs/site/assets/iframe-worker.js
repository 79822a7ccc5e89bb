/* Search from disk: browsers start no workers of files, so a frame does the work. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inside = frame.contentWindow;
      inside.postMessage = undefined;
      this.waiting = [];
      const script = inside.document.createElement("script");
      inside.addEventListener = (type, listener) => {
        if (type === "message") inside.onmessage = listener;
      };
      inside.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      };
      inside.importScripts = (...urls) =>
        urls.reduce(
          (before, each) =>
            before.then(
              () =>
                new Promise((done, failed) => {
                  const more = inside.document.createElement("script");
                  more.src = each;
                  more.onload = done;
                  more.onerror = failed;
                  inside.document.body.appendChild(more);
                })
            ),
          Promise.resolve()
        );
      script.src = url;
      script.onload = () => {
        this.inside = inside;
        this.waiting.splice(0).forEach((data) => this.postMessage(data));
      };
      inside.document.body.appendChild(script);
      this.frame = frame;
    }
    postMessage(data) {
      if (!this.inside) this.waiting.push(data);
      else this.inside.onmessage(new MessageEvent("message", { data }));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
