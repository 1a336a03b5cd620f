"""The curves as one SVG file, without a plotting package."""

from __future__ import annotations

from collections.abc import Sequence

from training.summary import Summary

WIDTH, HEIGHT = 720, 400
FONT = 'font-family="sans-serif" font-size="12"'
LEFT, RIGHT, TOP, BOTTOM = 60, 700, 20, 350
COLORS = {"selected": "#1b6e3c", "random": "#b3541e", "all": "#2d5fa4"}
LABELS = {"selected": "selected pivots", "random": "as many at random", "all": "all pivots"}


def svg(found: Summary) -> str:
    """Mean held-out reward against samples drawn in training; bands are 95 % intervals over worlds."""
    points = [spread for arm in found.arms.values() for spread in arm.points]
    bottom, top = min(spread.low for spread in points), max(spread.high for spread in points)
    most = found.samples[-1]

    def x(samples: float) -> float:
        return LEFT + (RIGHT - LEFT) * samples / most

    def y(reward: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (reward - bottom) / (top - bottom)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {FONT}>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        *(_tick_x(x(most * part / 4), f"{most * part // 4:,}") for part in range(5)),
        *(_tick_y(y(level), f"{level:.2f}") for level in _levels(bottom, top)),
        _text((LEFT + RIGHT) / 2, HEIGHT - 12, "samples drawn in training", "middle"),
        _text(LEFT + 6, TOP - 6, "mean reward on held-out tasks", "start"),
    ]
    for number, (name, arm) in enumerate(found.arms.items()):
        xs = [x(samples) for samples in found.samples]
        band = [*zip(xs, (y(s.high) for s in arm.points), strict=True)]
        band += reversed([*zip(xs, (y(s.low) for s in arm.points), strict=True)])
        line = [*zip(xs, (y(s.mean) for s in arm.points), strict=True)]
        color, height = COLORS[name], BOTTOM - 60 + 18 * number
        parts += [
            f'<polygon points="{_path(band)}" fill="{color}" opacity="0.15"/>',
            f'<polyline points="{_path(line)}" fill="none" stroke="{color}" stroke-width="2"/>',
            f'<rect x="{RIGHT - 165}" y="{height - 1}" width="30" height="2" fill="{color}"/>',
            _text(RIGHT - 128, height + 4, LABELS[name], "start"),
        ]
    return "\n".join([*parts, "</svg>", ""])


def _levels(bottom: float, top: float) -> list[float]:
    """Multiples of 0.02 within the range."""
    return [step / 50 for step in range(101) if bottom <= step / 50 <= top]


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'


def _tick_x(x: float, label: str) -> str:
    return (
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{BOTTOM}" stroke="#ddd"/>'
        f"{_text(x, BOTTOM + 16, label, 'middle')}"
    )


def _tick_y(y: float, label: str) -> str:
    return (
        f'<line x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
        f"{_text(LEFT - 6, y + 4, label, 'end')}"
    )
