"""What a browser can tell of the looks of all pages, at both widths and in both schemes: contrast, cuts, heights."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest

from docs.screenshots import addresses, settle
from tests.server.browsers import needs_chromium

pytestmark = needs_chromium
LOOKS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]

# Colours of parts of a page, and what is told of them.
COLOURS = """
    const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true})
    const rgb = text => {
        canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1)
        const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data
        return [r, g, b, a / 255]
    }
    const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])).concat(1)
    const light = colour => {
        const parts = colour.slice(0, 3).map(v => v / 255)
        const [r, g, b] = parts.map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b
    }
    const behind = one => {
        const layers = []
        for (let at = one; at; at = at.parentElement) layers.push(rgb(getComputedStyle(at).backgroundColor))
        return layers.reverse().reduce((below, top) => over(top, below), rgb('#fff'))
    }
    const opacity = one => {
        const own = Number(getComputedStyle(one).opacity)
        return one.parentElement ? own * opacity(one.parentElement) : own
    }
    const contrast = (one, other) => {
        const [a, b] = [light(one), light(other)].sort((x, y) => y - x)
        return (a + 0.05) / (b + 0.05)
    }
"""

# Texts whose contrast with what is behind them is below 4.5 : 1 (3 : 1 if they are large), WCAG 2.2, 1.4.3.
# Marks of charts lie over their cells: the colour behind a text in a chart is that of the shape below its middle.
FAINT = """() => {
    COLOURS
    const unread = 'script, style, option, noscript, .hidden, .skip, [aria-busy=true]'
    const found = []
    const judge = (one, ink, ground) => {
        const style = getComputedStyle(one), size = parseFloat(style.fontSize)
        const large = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700
        const told = contrast(over(ink, ground), ground)
        if (told < (large ? 3 : 4.5)) found.push(`${told.toFixed(2)}: ${one.textContent.trim().slice(0, 40)}`)
    }
    for (const one of document.querySelectorAll('body *')) {
        const texts = [...one.childNodes].filter(node => node.nodeType === 3 && node.textContent.trim())
        const box = one.getBoundingClientRect()
        if (!texts.length || one.closest(unread) || !box.width) continue
        if (one.disabled || opacity(one) === 0) continue
        if (one.closest('svg')) {
            if (!one.closest('.plot')) continue  // boards have colours of their own
            const ink = rgb(getComputedStyle(one).fill)
            ink[3] *= opacity(one)
            const x = box.left + box.width / 2, y = box.top + box.height / 2
            const cells = one.closest('.role-mark') ? one.closest('svg').querySelectorAll('.mark-rect path') : []
            const cell = [...cells].find(path => {
                const shape = path.getBoundingClientRect()
                return shape.left <= x && x <= shape.right && shape.top <= y && y <= shape.bottom
            })
            const ground = behind(one.closest('figure'))
            judge(one, ink, cell ? over(rgb(getComputedStyle(cell).fill), ground) : ground)
        } else {
            const ink = rgb(getComputedStyle(one).color)
            ink[3] *= opacity(one)
            judge(one, ink, behind(one))
        }
    }
    return [...new Set(found)]
}""".replace("COLOURS", COLOURS)

# Lines, points and bars of charts whose contrast with the page is below 3 : 1, WCAG 2.2, 1.4.11. Others are no
# shapes to be told from the page: cells with a text or a scale of colours, bands around lines, and places to point at.
DIM = """() => {
    COLOURS
    const found = []
    for (const figure of document.querySelectorAll('figure.chart')) {
        const ground = behind(figure), scaled = !!figure.querySelector('.role-legend-gradient, .role-legend .mark-rect')
        const texts = [...figure.querySelectorAll('.role-mark.mark-text text')].map(one => one.getBoundingClientRect())
        const written = box => texts.some(({left, right, top, bottom}) => left >= box.left - 1 && right <= box.right + 1
            && top >= box.top - 1 && bottom <= box.bottom + 1)
        const shapes = ['line', 'symbol', 'rule', 'rect'].map(kind => `.role-mark.mark-${kind} :is(path, line)`)
        for (const one of figure.querySelectorAll(`.plot :is(${shapes.join()})`)) {
            const style = getComputedStyle(one), box = one.getBoundingClientRect()
            if (!box.width && !box.height || opacity(one) === 0) continue
            if (one.closest('.mark-rect') && (scaled || written(box))) continue
            const inks = ['fill', 'stroke'].filter(part => style[part] !== 'none').map(part => {
                const ink = rgb(style[part])
                ink[3] *= opacity(one) * Number(style[`${part}Opacity`])
                return ink
            })
            const best = Math.max(1, ...inks.map(ink => contrast(over(ink, ground), ground)))
            if (best < 3) found.push(`${best.toFixed(2)}: ${one.closest('.role-mark').classList[0]} of `
                + figure.querySelector('h2').textContent)
        }
    }
    return [...new Set(found)]
}""".replace("COLOURS", COLOURS)

# Charts that could not be drawn, with what stands in their place.
UNDRAWN = """() => [...document.querySelectorAll('figure.chart .plot:not(:empty)')]
    .filter(plot => !plot.querySelector('svg')).map(plot => `not drawn: ${plot.textContent}`)"""

# Tables that end within a column or a row, unless a single one is larger than the room for it.
CUT = """() => [...document.querySelectorAll('.wide')].flatMap(wide => {
    const table = wide.querySelector('table.data:not(.runs)')
    if (!table) return []
    const box = wide.getBoundingClientRect(), right = box.left + wide.clientLeft + wide.clientWidth
    const low = box.top + wide.clientTop + wide.clientHeight
    const columns = [...table.tHead.rows[0].cells].slice(1).map(cell => cell.getBoundingClientRect())
    const rows = [...table.tBodies[0].rows].slice(1).map(row => row.getBoundingClientRect())
    return [...columns.filter(one => one.left < right - 1.5 && one.right > right + 1.5).map(() => 'a column'),
            ...rows.filter(one => one.top < low - 1.5 && one.bottom > low + 1.5).map(() => 'a row')]
        .map(what => `${wide.ariaLabel}: ${what}`)
})"""

# Cards side by side whose lower edges differ.
UNEVEN = """() => {
    const cards = [...document.querySelectorAll('.block.half > figure.chart')].map(card => {
        const block = card.parentElement.getBoundingClientRect()
        const title = card.querySelector('h2').textContent
        return {top: Math.round(block.top), low: card.getBoundingClientRect().bottom, title}
    })
    return cards.flatMap(one => cards.filter(other => other.top === one.top && Math.abs(other.low - one.low) > 1)
        .map(other => `${one.title} ends above or below ${other.title}`))
}"""


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_on_every_page_texts_are_legible_cells_whole_and_cards_even(
    chromium: Any, address: str, url: str, width: int, scheme: str
) -> None:
    page = chromium.new_page(viewport={"width": width, "height": 4000})  # charts are drawn where they are seen
    page.emulate_media(color_scheme=scheme)
    wrong: dict[str, list[str]] = {}
    for name, place in addresses(url).items():
        page.goto(f"{address}{place}")
        settle(page)
        if found := [one for look in (FAINT, DIM, UNDRAWN, CUT, UNEVEN) for one in page.evaluate(look)]:
            wrong[name] = found
    page.close()
    assert wrong == {}


# What has the focus: whether it is in view, and whether its look differs from the one without the focus.
FOCUSED = """() => {
    const one = document.activeElement, style = getComputedStyle(one), box = one.getBoundingClientRect()
    const ring = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1
    return {
        what: `${one.tagName} ${one.ariaLabel || one.name || one.textContent.trim().slice(0, 30)}`,
        end: one === document.body, ring,
        seen: box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
    }
}"""
LOWEST_MOVE = """() => [...document.querySelectorAll('#moves button')]
    .filter(one => one.getBoundingClientRect().bottom < innerHeight).at(-1).focus({preventScroll: true})"""
REACHABLE = """() => [...document.querySelectorAll('a[href], button, select, input:not([type=hidden]), summary')]
    .filter(one => one.checkVisibility() && !one.disabled && one.tabIndex < 0)
    .map(one => one.outerHTML.slice(0, 80))"""
# Charts without a summary, or whose summary is no more than their title.
SILENT = """() => [...document.querySelectorAll('figure.chart')].filter(figure => {
    const title = figure.querySelector('h2').textContent, told = figure.querySelector('.plot').ariaLabel || ''
    return !told.startsWith(title) || !/[0-9]/.test(told.slice(title.length))
}).map(figure => figure.querySelector('h2').textContent)"""
OF_MENU = {"Runs": "/", "League": "/league"}
TITLED = """([path, title]) => location.pathname === path
    && document.querySelector('h1')?.innerText === title"""
STOPS = 40  # of the focus, that are looked at on a page


def test_every_page_is_used_by_keys_shows_the_focus_and_says_what_its_charts_show(
    chromium: Any, address: str, url: str
) -> None:
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    wrong: dict[str, list[str]] = {}
    for name, place in addresses(url).items():
        page.goto(f"{address}{place}")
        settle(page)
        found = [*page.evaluate(REACHABLE), *page.evaluate(SILENT)]
        stops = []
        for _ in range(STOPS):
            page.keyboard.press("Tab")
            focus = page.evaluate(FOCUSED)
            if focus["end"]:
                break
            stops.append(focus["what"])
            if not (focus["ring"] and focus["seen"]):
                found.append(f"focus not seen: {focus['what']}")
        assert len(set(stops)) > 4, name
        if found:
            wrong[name] = found
    page.close()
    assert wrong == {}


def test_what_has_the_focus_stays_in_view_while_opinions_come_in(chromium: Any, address: str, url: str) -> None:
    matches = [place for place in addresses(url).values() if urlsplit(place).path.startswith("/match/")]
    held: list[Any] = []
    for place in matches:
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        page.route("**/opinions*", lambda route: held.append(route))
        page.goto(f"{address}{place}")
        page.locator("#moves button").first.wait_for()
        page.evaluate(LOWEST_MOVE)
        before = page.evaluate(FOCUSED)
        held.pop().continue_()
        page.wait_for_function("() => document.getElementById('thoughts').dataset.opinions")
        assert before["seen"] and page.evaluate(FOCUSED) == before, place
        page.close()
    assert matches


def test_enter_follows_a_link_sorts_a_table_and_back_and_reload_return(chromium: Any, address: str, url: str) -> None:
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    for name, place in addresses(url).items():
        page.goto(f"{address}{place}")
        settle(page)
        if not page.locator("h1").count():
            continue  # the board, whose own tests do this
        title = page.locator("h1").inner_text()
        other = "Runs" if name == "league" else "League"
        page.locator("header nav a", has_text=other).focus()
        page.keyboard.press("Enter")
        page.wait_for_function("path => location.pathname === path", arg=OF_MENU[other], timeout=60_000)
        page.go_back()
        page.wait_for_function(TITLED, arg=[urlsplit(place).path, title], timeout=60_000)
        settle(page)
        page.reload()
        settle(page)
        assert page.locator("h1").inner_text() == title, name
    page.goto(f"{address}{addresses(url)['yavalath_result']}")
    settle(page)
    button = page.locator("table.data th [data-sort]").nth(2)
    button.focus()
    page.keyboard.press("Enter")
    assert page.locator("table.data th").nth(2).get_attribute("aria-sort") == "descending"
    page.close()


def test_what_looks_wrong_is_seen(chromium: Any) -> None:
    page = chromium.new_page(viewport={"width": 400, "height": 900})
    page.set_content(
        "<style>.blocks { display: grid; grid-template-columns: 1fr 1fr } figure { margin: 0 }</style>"
        "<p style='color: #aaa; background: #fff'>faint</p><p style='color: #767676; background: #fff'>legible</p>"
        "<div class=wide style='width: 100px; overflow: auto' aria-label=table><table class=data><thead><tr>"
        "<th style='min-width: 80px'>a</th><th style='min-width: 80px'>b</th></tr></thead><tbody><tr><td>1</td>"
        "<td>2</td></tr></tbody></table></div>"
        "<div class=blocks><div class='block half'><figure class=chart><h2>low</h2></figure></div>"
        "<div class='block half'><figure class=chart style='height: 200px'><h2>high</h2></figure></div></div>"
        "<figure class=chart><h2>words</h2><div class=plot>Unsupported 1</div></figure>"
        "<figure class=chart><h2>bars</h2><div class=plot><svg><g class='mark-rect role-mark dim'>"
        "<path fill='#E69F00' d='M0,0h9v9z'/></g><g class='mark-rule role-mark'><line stroke='#0072B2' x2=9 /></g>"
        "<g class='mark-symbol role-mark pale'><path fill='#0072B2' fill-opacity=.4 d='M0,0h9v9z'/></g></svg></div>"
    )
    assert [text.partition(": ")[2] for text in page.evaluate(FAINT)] == ["faint"]
    assert page.evaluate(DIM) == ["2.25: mark-rect of bars", "1.82: mark-symbol of bars"]
    assert page.evaluate(UNDRAWN) == ["not drawn: Unsupported 1"]
    assert page.evaluate(CUT) == ["table: a column"]
    assert {text[:4] for text in page.evaluate(UNEVEN)} == {"low ", "high"}
    page.close()
