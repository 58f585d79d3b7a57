"""Code that draws: `points`, pairs of a label and a value, or `lines` over `times`, by name.

With matplotlib, or as plain SVG.
"""

from __future__ import annotations

_MATPLOTLIB = """
figure, axes = plt.subplots(figsize=(9, 4))
labels, heights = [str(label) for label, _ in points], [value for _, value in points]
axes.{draw}(range(len(points)), heights)
every = max(1, len(labels) // 12)
axes.set_xticks(range(0, len(labels), every), labels[::every], rotation=45, ha="right")
axes.set_title(title)
figure.tight_layout()
"""

_MATPLOTLIB_LINES = """
figure, axes = plt.subplots(figsize=(9, 4))
for name, heights in lines.items():
    axes.plot(range(len(times)), [float("nan") if v is None else v for v in heights], label=name)
every = max(1, len(times) // 12)
axes.set_xticks(range(0, len(times), every), times[::every], rotation=45, ha="right")
axes.set_title(title)
axes.legend()
figure.tight_layout()
"""

_SVG_LINES = """
def as_svg(lines, times, title, width=720, height=320, edge=48):
    from html import escape
    colours = ["#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#777"]
    values = [v for heights in lines.values() for v in heights if v is not None]
    low, high = min(0, *values), max(0, *values)
    scale = (height - 2 * edge) / ((high - low) or 1)
    step = (width - 3 * edge) / len(times)
    across = lambda at: edge + (at + 0.5) * step
    down = lambda value: height - edge - (value - low) * scale
    marks = []
    for (name, heights), colour, at in zip(lines.items(), colours, range(8)):
        path = " ".join(
            f"{across(n):.1f},{down(v):.1f}" for n, v in enumerate(heights) if v is not None
        )
        marks.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        place = f'x="{width - 2 * edge + 8}" y="{edge + 16 * at}"'
        marks.append(f'<text {place} fill="{colour}">{escape(name[:14])}</text>')
    every = max(1, len(times) // 8)
    marks += [
        f'<text x="{across(n):.1f}" y="{height - edge + 16}" text-anchor="middle">{time}</text>'
        for n, time in enumerate(times) if n % every == 0
    ]
    marks += [f'<text x="4" y="{down(v):.1f}">{v:,.4g}</text>' for v in {low, high}]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="11">'
        f'<rect width="100%" height="100%" fill="white"/><text x="{edge}" y="20" '
        f'font-size="14">{escape(title)}</text>{"".join(marks)}</svg>'
    )

chart = as_svg(lines, times, title)
"""

_SVG = """
def as_svg(points, title, kind, width=720, height=320, edge=48):
    from html import escape
    low, high = min(0, *(v for _, v in points)), max(0, *(v for _, v in points))
    scale = (height - 2 * edge) / ((high - low) or 1)
    step = (width - 2 * edge) / len(points)
    across = lambda at: edge + (at + 0.5) * step
    down = lambda value: height - edge - (value - low) * scale
    if kind == "line":
        path = " ".join(f"{across(at):.1f},{down(v):.1f}" for at, (_, v) in enumerate(points))
        marks = [f'<polyline points="{path}" fill="none" stroke="#1f77b4" stroke-width="2"/>']
    else:
        marks = [
            f'<rect x="{across(at) - 0.4 * step:.1f}" y="{min(down(v), down(0)):.1f}" '
            f'width="{0.8 * step:.1f}" height="{abs(down(v) - down(0)):.1f}" fill="#1f77b4"/>'
            for at, (_, v) in enumerate(points)
        ]
    every = max(1, len(points) // 8)
    marks += [
        f'<text x="{across(at):.1f}" y="{height - edge + 16}" text-anchor="middle">'
        f"{escape(str(label)[:12])}</text>"
        for at, (label, _) in enumerate(points) if at % every == 0
    ]
    marks += [f'<text x="4" y="{down(v):.1f}">{v:,.4g}</text>' for v in {low, high}]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="11">'
        f'<rect width="100%" height="100%" fill="white"/><text x="{edge}" y="20" '
        f'font-size="14">{escape(title)}</text>{"".join(marks)}</svg>'
    )

chart = as_svg(points, title, {kind!r})
"""


def chart(title: str, kind: str, *, file: str, with_matplotlib: bool) -> str:
    """Draw, and show in the notebook, or write to a file of that name (without ending)."""
    several = kind == "lines"
    lines = [f"title = {title!r}", f"if not {'lines' if several else 'points'}:"]
    lines.append('    raise ValueError("there is nothing to plot")')
    if with_matplotlib:
        lines += ["import matplotlib", 'matplotlib.use("Agg")'] if file else []
        lines.append("import matplotlib.pyplot as plt")
        single = _MATPLOTLIB.replace("{draw}", "plot" if kind == "line" else "bar")
        lines.append((_MATPLOTLIB_LINES if several else single).strip())
        lines.append(f"figure.savefig({f'{file}.png'!r})" if file else "plt.show()")
    else:
        lines.append((_SVG_LINES if several else _SVG.replace("{kind!r}", repr(kind))).strip())
        lines += _written(file) if file else _displayed()
    if file:
        lines.append(
            f"print({f'→ chart saved to {file}.' + ('png' if with_matplotlib else 'svg')!r})"
        )
    return "\n".join(lines)


def _written(file: str) -> list[str]:
    return [
        f"with open({f'{file}.svg'!r}, 'w', encoding='utf-8') as file:",
        "    file.write(chart)",
    ]


def _displayed() -> list[str]:
    return ["from IPython.display import SVG, display", "display(SVG(chart))"]
