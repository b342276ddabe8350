"""2005, Figure 1: the cost of a pair at three target probabilities, and two probabilities combined."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwright.pairwise.cross_entropy import pair_slope
from rankwright.pairwise.probabilities import combine
from rankwright.reproductions.experiments import Experiment, Setting, Table
from rankwright.reproductions.rows import AtLeast, AtMost, Equals, Row, Within

TARGETS = (0.0, 0.5, 1.0)
OUTPUTS = np.linspace(-5.0, 5.0, 101)
SHARES = np.linspace(0.0, 1.0, 101)
FAR = 30.0  # a difference of outputs at which the cost's slope is its last one


def pieces(setting: Setting) -> dict[str, Any]:
    """A panel a piece."""
    return {"cost": cost_curves, "combined": lambda: combine(SHARES, SHARES)}


def cost_curves() -> dict[str, list[float]]:
    """The cost by target probability, with float32 as it is trained."""
    return {
        f"{target:g}": [pair_slope(np.float32(o), np.float32(target))[1] for o in OUTPUTS]
        for target in TARGETS
    }


def figures(results: Any) -> dict[str, Any]:
    """What the text says of both panels."""
    curves = {target: np.array(values, np.float64) for target, values in results["cost"].items()}
    exact = {target: np.logaddexp(0.0, OUTPUTS) - float(target) * OUTPUTS for target in curves}  # equation 3
    combined = np.array(results["combined"])
    inner, half = (SHARES > 0) & (SHARES < 1), len(SHARES) // 2
    return {
        "equation 3": max(float(np.abs(curves[target] - exact[target]).max()) for target in curves),
        "lowest at": float(OUTPUTS[curves["0.5"].argmin()]),
        "asymmetry": float(np.abs(curves["0.5"] - curves["0.5"][::-1]).max()),
        "last slope": float(pair_slope(np.float32(FAR), np.float32(0.0))[0]),
        "fixed": ", ".join(f"{share:g}" for share in SHARES[np.abs(combined - SHARES) < 1e-12]),
        "builds": bool(
            (combined[:half] < SHARES[:half])[inner[:half]].all()
            and (combined[half + 1 :] > SHARES[half + 1 :])[inner[half + 1 :]].all()
        ),
        "0.6 twice": float(combine(0.6, 0.6)),
    }


def tables(results: Any) -> list[Table]:
    """The two panels."""
    costs = [
        {"output difference": float(o), "cost": value, "target": target}
        for target, values in results["cost"].items()
        for o, value in zip(OUTPUTS[::10], values[::10], strict=True)
    ]
    pairs = [
        {"P": float(share), "combined": value, "curve": name}
        for name, values in (("P combined with P", results["combined"]), ("P", SHARES.tolist()))
        for share, value in zip(SHARES[::10], values[::10], strict=True)
    ]
    return [
        Table("The cost of a pair", costs, ("output difference", "cost", "target")),
        Table("Two probabilities combined", pairs, ("P", "combined", "curve")),
    ]


FIGURE_1 = Experiment(
    name="2005-figure-1",
    title="The cost of a pair, and two probabilities combined",
    paper="2005",
    data="none",
    pieces=pieces,
    figures=figures,
    tables=tables,
    rows=(
        Row(
            figure="equation 3",
            where="Figure 1, left",
            what="largest difference of our cost from equation 3, at targets 0, 0.5 and 1",
            published="−P̄o + log(1 + e^o)",
            expected=AtMost(1e-5),
            why="the kernel's float32, for costs up to 5",
        ),
        Row(
            figure="lowest at",
            where="Figure 1, left",
            what="where the cost of target 0.5 is lowest",
            published="at the origin",
            expected=Within(0.0, 0.05),
            why="half the distance of two points of the curve",
        ),
        Row(
            figure="asymmetry",
            where="Figure 1, left",
            what="how far the cost of target 0.5 is from its mirror image",
            published="symmetric",
            expected=AtMost(1e-5),
            why="the kernel's float32",
        ),
        Row(
            figure="last slope",
            where="Figure 1, left",
            what="slope of the cost of target 0 far to the right",
            published="asymptotes to a linear function",
            expected=Within(1.0, 1e-6),
            why="the slope of equation 3's line, in float32",
        ),
        Row(
            figure="fixed",
            where="Figure 1, right",
            what="where P combined with P is P again",
            published="at 0, 0.5 and 1, and only there",
            expected=Equals("0, 0.5, 1"),
            why="a claim about all P; 101 are tried",
        ),
        Row(
            figure="builds",
            where="Figure 1, right",
            what="confidence builds: combined it is below P below 0.5, and above P above 0.5",
            published="as expected",
            expected=Equals(True),
            why="a claim about all P; 101 are tried",
        ),
        Row(
            figure="0.6 twice",
            where="section 3.1",
            what="0.6 combined with 0.6",
            published="> 0.6",
            expected=AtLeast(0.6 + 1e-9),
            why="strictly above",
        ),
    ),
)

EXPERIMENTS = (FIGURE_1,)
