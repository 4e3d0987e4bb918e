"""Chromium without a window, driven over its pipe (DevTools protocol), for tests of pages."""

import json
import os
import select
import shutil
import subprocess
import time

from guard import GUARD

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Page:
    """One tab: what it fetched, what it complained of, and its answers."""

    def __init__(self, folder):
        """Start the browser with its profile in `folder`."""
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()

        def connect():
            os.dup2(to_browser, 203)  # first out of the way: 3 and 4 may be ends of these very pipes
            os.dup2(from_browser, 204)
            os.dup2(203, 3)
            os.dup2(204, 4)

        options = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--remote-debugging-pipe",
        ]
        self._process = subprocess.Popen(
            [PROGRAM, *options, f"--user-data-dir={folder}", "about:blank"],
            preexec_fn=connect,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._number, self._rest, self.session = 0, b"", None
        self.events = []
        (target,) = (t for t in self.ask("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def close(self):
        self._process.terminate()
        self._process.wait(GUARD)
        os.close(self._in)
        os.close(self._out)

    def _read(self, until):
        while b"\0" not in self._rest:
            if not select.select([self._in], [], [], max(0.0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self._in, 1 << 20)
            if not data:
                raise EOFError("the browser has gone")
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def ask(self, method, **params):
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data) :]
        until = time.monotonic() + GUARD
        while (answer := self._read(until)).get("id") != self._number:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["result"]

    def open(self, url):
        self.events.clear()
        self.ask("Page.navigate", url=url)
        until = time.monotonic() + GUARD
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._read(until))

    def run(self, script):
        """The value of a JavaScript expression."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    @property
    def fetched(self):
        """The addresses of all requests since `open`."""
        sent = (event["params"] for event in self.events if event.get("method") == "Network.requestWillBeSent")
        return [params["request"]["url"] for params in sent]

    @property
    def complaints(self):
        """Exceptions, errors and warnings since `open`."""
        kinds = {"Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"}
        return [event["params"] for event in self.events if event.get("method") in kinds]
