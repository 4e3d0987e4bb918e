"""The page about the digits network: how large, how long to make, how long until a browser has loaded it.

    python benchmarks/report.py [runs]

The browser is Chromium, without a window; the time is that from the start of the navigation to the end of the load
event, as the browser itself states it.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import chromium  # noqa: E402

from semialg_fibers.exchange.files import read_network  # noqa: E402
from semialg_fibers.report.page import report_html  # noqa: E402

LOADED = "(() => { const [n] = performance.getEntriesByType('navigation'); return n.loadEventEnd - n.startTime; })()"


def main() -> None:
    """Print the figures."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    net = read_network(ROOT / "notebooks" / "data" / "digits-64-32-16-10.json")
    start = time.process_time()
    page = report_html(net)
    print(f"{net}: {len(page.encode()):,} bytes, made in {time.process_time() - start:.1f} s CPU")
    if chromium.PROGRAM is None:
        print("Chromium is not installed: not opened")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        path.write_text(page, encoding="utf-8")
        browser = chromium.Page(Path(folder) / "profile")
        loads = []
        for _ in range(runs):
            browser.open(path.as_uri())
            time.sleep(0.2)  # the event ends after its listeners
            loads.append(browser.run(LOADED))
        browser.close()
    print(f"loaded in {statistics.median(loads) / 1000:.2f} s, at most {max(loads) / 1000:.2f} s; {runs} runs")


if __name__ == "__main__":
    main()
