"""Compare editions of one text as web pages in chromium: weight, load time, broken rules of axe, phone overflow.

python tests/browser/editions.py FOLDER_OR_PAGE...    # after `make test-browser`
"""

import shutil
import sys
from importlib.resources import files
from pathlib import Path

from playwright.sync_api import sync_playwright

LOAD_AND_OVERFLOW = """() => { const [shown] = performance.getEntriesByType("navigation");
  return [shown.loadEventEnd, document.documentElement.scrollWidth - document.documentElement.clientWidth]; }"""


def main() -> None:
    """Print the weight of each edition, the longest load and widest overflow of a page, and all broken rules."""
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for edition in map(Path, sys.argv[1:]):
            pages = sorted(edition.glob("*.html")) if edition.is_dir() else [edition]
            loads, overflows, rules = [], [], set()
            requested = set[str]()
            for path in pages:
                page = browser.new_page(viewport={"width": 390, "height": 844})
                page.on("request", lambda request, urls=requested: urls.add(request.url))
                page.goto(path.resolve().as_uri(), wait_until="load", timeout=120_000)
                load, overflow = page.evaluate(LOAD_AND_OVERFLOW)
                page.evaluate(axe)
                report = page.evaluate("axe.run(document, {resultTypes: ['violations'], preload: false})")
                rules |= {rule["id"] for rule in report["violations"]}
                loads.append(load), overflows.append(overflow)
                page.close()
            local = {url.partition("#")[0].removeprefix("file://") for url in requested if url.startswith("file:")}
            weight = sum(Path(name).stat().st_size for name in local if Path(name).is_file())
            hosts = {url.split("/")[2] for url in requested if url.startswith("http")}
            print(
                f"{edition}: {len(pages)} pages, {weight / 1000:,.0f} kB with all they load, {len(hosts)} other hosts"
            )
            print(f"  load {max(loads):.0f} ms, {max(overflows)} pixels beyond the phone, broken rules {sorted(rules)}")


if __name__ == "__main__":
    main()
