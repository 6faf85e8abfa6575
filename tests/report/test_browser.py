"""The page as a reader meets it: in a browser, with mouse and keyboard, on light and dark."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from herald_gpu import CondensedGraph

pytestmark = pytest.mark.browser
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SIZE = {"width": 1100, "height": 900}


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: pip install playwright")
    path = next((found for found in map(shutil.which, NAMES) if found), None)
    if path is None:
        pytest.skip("no Chromium on the path: install the package chromium of the system")
    with api.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def visit(browser, tmp_path):
    """Open the page of a condensed graph; whatever the browser complains of fails the test."""
    complaints, contexts = [], []

    def go(result, **options):
        result.to_html(tmp_path / "page.html")
        context = browser.new_context(viewport=SIZE, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: request.url.startswith(("file:", "data:")) or complaints.append(request.url))
        page.goto((tmp_path / "page.html").as_uri())
        return page

    yield go
    for context in contexts:
        context.close()
    assert complaints == []


def settle(page):
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def at(page, i):
    """Where a node is on the screen."""
    return page.evaluate(
        """(i) => {
          const g = JSON.parse(document.getElementById("graph-data").textContent);
          const view = document.getElementById("view"), box = view.getBoundingClientRect();
          const fit = Math.min(box.width / g.width, box.height / g.height), scale = fit * Number(view.dataset.zoom);
          const x = g.x[i] * scale + Number(view.dataset.x), y = g.y[i] * scale + Number(view.dataset.y);
          return [box.left + x, box.top + y];
        }""",
        i,
    )


def zoom(page):
    settle(page)
    return float(page.locator("#view").get_attribute("data-zoom"))


@pytest.mark.parametrize("name", ["default", "linked", "paper", "odd names", "tiny", "many classes"])
def test_every_page_opens_without_complaint(visit, make, name):
    page = visit(make(name))
    assert page.locator("#view").is_visible()
    assert not page.locator("#sheet").is_visible()


def test_pointing_at_a_node_tells_of_it(visit, make):
    result = make("odd names")
    page = visit(result)
    page.locator("#view").scroll_into_view_if_needed()
    contents = result._host
    for i in (0, int(np.flatnonzero(contents.is_landmark)[0])):
        page.mouse.move(*at(page, i))
        settle(page)
        told = page.locator("#tip").inner_text().splitlines()
        assert page.locator("#tip").is_visible()
        assert told[0] == f"node {contents.node_ids[i]}"
        assert told[1] == f"class {contents.class_values[contents.codes[i]]}"
        assert ("landmark" in told) == bool(contents.is_landmark[i])
        assert any(line.startswith("prototype ") for line in told) != bool(contents.is_landmark[i])
    page.mouse.move(2, 2)
    settle(page)
    assert not page.locator("#tip").is_visible()


def test_wheel_and_drag_change_the_view(visit, make):
    page = visit(make("default"))
    view = page.locator("#view")
    view.scroll_into_view_if_needed()
    box = view.bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + min(box["height"], 500) / 2)
    assert zoom(page) == 1
    page.mouse.move(*middle)
    page.mouse.wheel(0, -400)
    page.wait_for_function("document.getElementById('view').dataset.zoom > 1.2")
    before = float(view.get_attribute("data-x"))
    page.mouse.down()
    page.mouse.move(middle[0] + 80, middle[1])
    page.mouse.up()
    settle(page)
    assert float(view.get_attribute("data-x")) == pytest.approx(before + 80, abs=1)


def test_keys_change_the_view_and_walk_the_nodes(visit, make):
    result = make("default")
    page = visit(result)
    view = page.locator("#view")
    view.focus()
    page.keyboard.press("+")
    assert zoom(page) == pytest.approx(1.3)
    page.keyboard.press("-")
    page.keyboard.press("-")
    assert zoom(page) == pytest.approx(1 / 1.3, rel=1e-2)
    before = float(view.get_attribute("data-y"))
    page.keyboard.press("ArrowDown")
    assert float(view.get_attribute("data-y")) == pytest.approx(before - 60)
    page.keyboard.press("0")
    assert zoom(page) == 1
    page.keyboard.press("n")
    page.keyboard.press("n")
    said = page.locator("#said").inner_text()
    assert said.startswith(f"node {result.node_ids[1]}, class ")
    page.keyboard.press("Escape")
    assert not page.locator("#tip").is_visible()


def test_buttons_do_the_same(visit, make):
    page = visit(make("default"))
    page.get_by_role("button", name="Zoom in").click()
    assert zoom(page) > 1
    page.get_by_role("button", name="Whole graph").click()
    assert zoom(page) == 1


def test_the_first_tab_skips_to_the_report(visit, make):
    page = visit(make("default"))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "report"


def test_without_script_figures_and_tables_are_there(visit, make):
    page = visit(make("linked"), java_script_enabled=False)
    assert page.locator("#sheet").is_visible()
    assert not page.locator("#view").is_visible()
    assert page.locator("svg.chart").count() >= 6
    page.locator("#figure-classes summary").click()
    assert page.locator("#figure-classes table").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(visit, make, scheme, tmp_path):
    page = visit(make("linked"), color_scheme=scheme)
    settle(page)
    shot = page.screenshot(path=tmp_path / f"{scheme}.png", full_page=True)
    assert len(shot) > 20_000
    ground, text = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    )
    bright = [sum(int(part) for part in colour[4:-1].split(",")) for colour in (ground, text)]
    assert (bright[0] > 600, bright[1] < 200) == ((True, True) if scheme == "light" else (False, False))
    drawn = page.evaluate(
        """() => {
          const view = document.getElementById("view"), pen = view.getContext("2d");
          const data = pen.getImageData(0, 0, view.width, view.height).data;
          let seen = 0;
          for (let i = 3; i < data.length; i += 4) seen += data[i] > 0;
          return seen;
        }"""
    )
    assert drawn > 500


def test_a_narrow_screen_has_no_sideways_scrolling(visit, make):
    page = visit(make("many classes"))
    page.set_viewport_size({"width": 360, "height": 700})
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def large(result, n, m):
    """A condensed graph of this size, with edges drawn at random."""
    rng, contents = np.random.default_rng(0), result._host
    half = scipy.sparse.coo_matrix((np.ones(m, dtype=np.float32), rng.integers(n, size=(2, m))), shape=(n, n))
    adjacency = ((half + half.T) > 0).astype(np.float32).tocsr()
    flags = np.zeros(n, dtype=bool)
    ids = np.arange(n)
    made = replace(
        contents,
        node_ids=ids,
        adjacency=adjacency,
        features=np.zeros((n, 2), dtype=np.float32),
        feature_ids=np.arange(2),
        feature_positions=np.arange(2),
        codes=ids % 3,
        train_mask=~flags,
        is_root=ids % 2 == 0,
        is_landmark=flags,
        edge_is_synthetic=np.zeros(adjacency.nnz, dtype=bool),
        scores={"node": ids, "prototype": rng.random(n), "boundary": rng.random(n), "rank": ids + 1},
    )
    sizes = {"n_nodes": n, "n_edges": int(adjacency.nnz), "n_landmarks": 0, "n_synthetic_edges": 0}
    return CondensedGraph(made, replace(result.report, **sizes))


@pytest.mark.slow
def test_thousands_of_nodes_stay_smooth(visit, make):
    page = visit(large(make("default"), 5000, 25_000))
    view = page.locator("#view")
    view.focus()
    mean = page.evaluate(
        """async () => {
          const view = document.getElementById("view"), frame = () => new Promise(requestAnimationFrame);
          await frame();
          const start = performance.now();
          for (let i = 0; i < 20; i++) {
            view.dispatchEvent(new KeyboardEvent("keydown", { key: i % 2 ? "ArrowLeft" : "+" }));
            await frame();
          }
          return (performance.now() - start) / 20;
        }"""
    )
    assert mean < 250, f"{mean:.0f} ms a frame, without a GPU"


def test_kept_features_are_searched(visit, make):
    page = visit(make("default"))
    search, rows = page.locator("#feature-search"), page.locator("#feature-rows tbody tr")
    count = rows.count()
    name = rows.nth(count - 1).locator("th").inner_text()
    search.focus()
    page.keyboard.type(name)
    found = [rows.nth(i).locator("th").inner_text() for i in range(rows.count())]
    assert name in found
    assert all(name in one for one in found)
    page.keyboard.type(" that is nowhere")
    assert rows.count() == 0
    assert page.locator("#feature-found").inner_text() == "0 features match"
    page.keyboard.press("Escape")
    assert rows.count() == count


def test_print_is_light_and_has_every_table(visit, make):
    page = visit(make("default"), color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("#sheet").is_visible()
    assert not page.locator("#view").is_visible()
    assert not page.locator("#feature-search").is_visible()
    tables = page.locator("table")
    assert all(tables.nth(i).bounding_box()["height"] > 0 for i in range(tables.count()))
