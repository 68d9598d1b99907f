"""The site in a real browser, opened from files: filters, sorting, and the graph, by mouse and keyboard."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

import site_made as made

WIDTHS = (390, 1280)
SCHEMES = ("light", "dark")
PAGES = (
    "site/index.html", "site/ledger.html", "site/exhibits.html", "site/artifacts.html", "site/graph.html",
    "site/bibliography.html", "site/table/recall_loss.html", "site/figure/recall_curves.html",
    "site/artifact/recall_drop.html", "site/artifact/claims.html", "site/chapter/recall.html",
    "site/code/analysis/claims/recall/statements.py.html", "annotated/index.html", "annotated/recall.html",
)  # fmt: skip


@pytest.fixture
def open_page(browser: Browser, paper: Path) -> Iterator[object]:
    """Yield a function that opens a page; script errors, failed loads and network requests fail the test."""
    faults: list[str] = []
    contexts = []

    def open_page(address: str, width: int = 1280, scheme: str = "light") -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(f"{address}: {error}"))
        page.on("requestfailed", lambda request: faults.append(f"{address}: {request.url}"))
        page.on("request", lambda request: request.url.startswith(("file:", "data:")) or faults.append(request.url))
        page.goto(f"{paper.as_uri()}/{address}")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []


def visible_rows(page: Page) -> list[str]:
    """Return the names of the visible rows of the ledger."""
    script = "rows => rows.filter(r => r.checkVisibility()).map(r => r.id)"
    ids: list[str] = page.eval_on_selector_all("#rows > details", script)
    return ids


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_fits_the_screen_and_axe_finds_no_violation(open_page, width, scheme):
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    for address in PAGES:
        page = open_page(address, width, scheme)
        beyond = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert beyond <= 0, (address, beyond)
        page.evaluate(axe)
        report = page.evaluate("axe.run(document, {resultTypes: ['violations'], preload: false})")
        assert "color-contrast" in {rule["id"] for rule in report["passes"]}, address
        assert [(rule["id"], rule["nodes"][0]["html"]) for rule in report["violations"]] == [], address
        page.context.close()


@pytest.mark.parametrize(
    ("kind", "chapter", "words"),
    [
        ("cite", "recall", "Nobody. "),
        ("n", "recall", "recall_drop"),
        ("note", "limits", "By hand, where p<q, in both halves & margins."),
    ],
)
def test_works_cells_and_notes_are_shown_on_hover_and_on_focus(open_page, kind, chapter, words):
    page = open_page(f"site/chapter/{chapter}.html")
    content = "link => getComputedStyle(link, '::after').content"
    link = page.locator(f"article a.{kind}").first
    tip = link.get_attribute("data-tip")
    assert link.evaluate(content) == "none"
    link.hover()
    assert words in tip
    assert link.evaluate(content).strip('"').replace("\\", "") == tip.replace("\\", "")
    page.mouse.move(0, 0)
    page.keyboard.press("Tab")  # after this the browser treats the focus as set by keyboard
    link.focus()
    assert link.evaluate(content) != "none"


def test_number_leads_to_its_cell(open_page):
    page = open_page("site/chapter/recall.html")
    number = page.locator("article a.n[href*='#']").first
    printed = number.inner_text()
    number.click()
    assert page.inner_text("td:target") == printed


def test_search_finds_text_claims_and_printed_numbers_of_exhibits(open_page):
    page = open_page("site/index.html", 390)
    page.keyboard.press("/")
    for words, target in (("Table 1.2", "table/recall_lengths.html"), ("LONGEST half", "ledger.html#recall_half")):
        page.keyboard.press("Control+a")
        page.keyboard.type(words)
        page.wait_for_selector(f".results a[href='{target}']")
    assert page.locator(".results a mark").all_inner_texts()[:2] == ["longest", "half"]
    page.keyboard.press("Enter")
    page.wait_for_url("**/ledger.html#recall_half")


def test_previous_and_next_lead_through_all_chapters_and_back(open_page):
    page = open_page("site/index.html")
    listed = page.eval_on_selector_all(".chapters a", "links => links.map(link => link.href)")
    assert len(listed) == 3
    page.goto(listed[0])
    for relation, opposite, following in (("next", "prev", listed[1:]), ("prev", "next", listed[-2::-1])):
        assert page.locator(f".turn a[rel={opposite}]").count() == 0
        for address in following:
            page.click(f".turn a[rel={relation}]")
            page.wait_for_load_state("networkidle")
            assert page.url == address


def test_printed_page_has_the_text_alone_in_black(open_page):
    page = open_page("site/chapter/recall.html")
    page.emulate_media(media="print")
    assert page.locator(".top").is_hidden()
    assert page.locator(".contents").is_hidden()
    assert page.locator("article p").first.is_visible()
    same = "link => getComputedStyle(link).color === getComputedStyle(link.parentElement).color"
    assert page.eval_on_selector("article p a", same)


def test_table_words_and_file_names_are_not_broken_on_a_narrow_screen(open_page):
    page = open_page("site/table/recall_differs.html", 390)
    page.eval_on_selector("table.exhibit", "table => { table.style.width = '60rem'; }")  # wider than the screen
    wide = page.eval_on_selector_all(
        ".exhibit caption, .exhibit tfoot p", "all => all.map(each => each.getBoundingClientRect().right)"
    )
    assert wide
    assert max(wide) <= 390
    page.eval_on_selector(".typeset", "box => box.scrollTo(400, 0)")  # the caption stays in view when scrolled
    assert page.eval_on_selector(".exhibit caption", "each => each.getBoundingClientRect().left") >= 0
    index = open_page("annotated/index.html", 390)
    assert index.eval_on_selector("td code", "each => each.getClientRects().length") == 1


def test_ledger_filter_selects_rows_and_is_kept_in_the_address(open_page):
    page = open_page("site/ledger.html")
    assert len(visible_rows(page)) == 10
    page.select_option("select[name=verdict]", "contradicted")
    page.wait_for_function("document.getElementById('count').textContent === '1 of 10 rows'")
    assert visible_rows(page) == ["recall_mean_large"]
    assert page.url.endswith("ledger.html?verdict=contradicted")
    page.click("button[type=reset]")
    page.wait_for_function("document.getElementById('count').textContent === '10 rows'")
    page.fill("input[name=search]", "wilson longest half")
    page.wait_for_function("document.getElementById('count').textContent === '0 of 10 rows'")
    page.fill("input[name=search]", "LONGEST half")
    page.wait_for_function("document.getElementById('count').textContent === '1 of 10 rows'")
    assert visible_rows(page) == ["recall_half"]
    again = open_page("site/ledger.html?chapter=recall")
    assert visible_rows(again) == ["recall_mean_large"]
    assert again.eval_on_selector("select[name=chapter]", "each => each.value") == "recall"


def test_address_of_a_ledger_row_opens_it(open_page):
    page = open_page("site/ledger.html#recall_half")
    assert page.eval_on_selector("#recall_half", "row => row.open")
    assert page.eval_on_selector_all("details.row[open]", "rows => rows.length") == 1
    hidden = open_page("site/ledger.html?verdict=contradicted#recall_half")  # the address of a row overrides a filter
    hidden.wait_for_function("document.getElementById('recall_half').open")
    assert hidden.is_visible("#recall_half")


def test_verdict_links_to_function_and_data_in_one_click_each(open_page):
    page = open_page("site/ledger.html#recall_mean_large")
    page.click("#recall_mean_large a[href^='code/']")
    assert page.is_visible("div:target >> text=def recall_mean_large")
    page.go_back()
    page.click("#recall_mean_large a[href='artifact/recall_seeds.html']")
    assert page.inner_text("h1") == "Source recall_seeds"
    assert page.is_visible("td >> text='87.1'")


def test_caption_links_to_its_work_and_on_to_another_exhibit(open_page):
    page = open_page("site/figure/recall_curves.html")
    page.click("figcaption a[href*='bibliography.html']")
    assert page.is_visible("tr:target >> text=Nobody")
    page.click("tr:target a[href='table/recall_lengths.html']")
    assert page.inner_text("h1").startswith("Table 1.2: Recall in percent by the length of the text")


def test_table_sorts_numerically_in_both_directions_and_by_keyboard(open_page):
    page = open_page("site/artifact/recall_by_length.html")
    column = "rows => rows.map(row => row.cells[1].textContent)"
    page.click("table.sortable th:nth-child(2) button")
    order = page.eval_on_selector_all("table.sortable tbody tr", column)
    assert order == sorted(order, key=float)
    assert order[0] == "512"
    page.focus("table.sortable th:nth-child(2) button")
    page.keyboard.press("Enter")
    assert page.eval_on_selector_all("table.sortable tbody tr", column)[0] == "4096"
    assert page.get_attribute("table.sortable th:nth-child(2)", "aria-sort") == "descending"


def test_ledger_can_be_navigated_by_keyboard(open_page):
    page = open_page("site/ledger.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.focus("#recall_falls > summary")
    page.keyboard.press("Enter")
    assert page.eval_on_selector("#recall_falls", "row => row.open")
    page.keyboard.press("Tab")
    inside = "document.activeElement.closest('#recall_falls') && getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(inside) == "solid"


def test_graph_filter_keeps_the_neighbours_of_a_node(open_page):
    page = open_page("site/graph.html")
    keys = "items => items.filter(each => each.checkVisibility()).map(each => each.dataset.key)"
    all_keys = page.eval_on_selector_all("#graph li", keys)
    page.click("li[data-key='result:recall_drop'] button")
    remaining = set(page.eval_on_selector_all("#graph li", keys))
    assert {"source:recall_by_length", "result:recall_drop", "table:recall_loss", "chapter:recall"} <= remaining
    assert not {"source:recall_seeds", "table:recall_near_far", "claim:recall_mean_large"} & remaining
    page.keyboard.press("Escape")
    assert page.eval_on_selector_all("#graph li", keys) == all_keys
    linked = open_page("site/graph.html#table%3Arecall_loss")
    assert linked.get_attribute("li[data-key='table:recall_loss'] button", "aria-pressed") == "true"


def test_markup_in_data_is_not_executed(open_page):
    page = open_page("site/artifact/documents.html")
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    assert page.is_visible(f"td >> text={made.EVIL}")
