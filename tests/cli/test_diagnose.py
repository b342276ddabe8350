"""``rankwright diagnose``: optimality, conservative, pairs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Run

import rankwright as rw

FEW = ("--points", 2, "--loops", 2)


def test_optimality_says_what_the_library_does(folder: Path, run: Run) -> None:
    files = folder / "bad.rw", folder / "data.txt"
    queries = rw.read_letor(folder / "data.txt")
    expected = rw.local_optimality(rw.load(folder / "bad.rw"), queries, "map", n_directions=9, random_state=2)
    result = run("diagnose", "optimality", *files, "-m", "map", "--directions", 9, "--random-state", 2)
    assert (result.exit_code, result.stdout) == (0, f"{expected}\n")
    result = run(
        "diagnose", "optimality", *files, "-m", "map", "--directions", 9, "--random-state", 2, "--json"
    )
    assert json.loads(result.stdout) == expected.as_dict()


def test_optimality_by_default_is_the_papers(folder: Path, run: Run) -> None:
    result = run("diagnose", "optimality", folder / "bad.rw", folder / "data.txt", "--json")
    read = json.loads(result.stdout)
    assert (read["measure"], read["directions"], len(read["steps"])) == ("ndcg@10", 459, 10)
    assert read["is_optimum"] is False and read["best"] > read["start"]


def test_curves_and_the_best_model_are_written(folder: Path, run: Run) -> None:
    files = folder / "bad.rw", folder / "data.txt"
    result = run(
        "diagnose", "optimality", *files, "--directions", 4, "--step", 0.5, "--step", 1, "--absolute",
        "--no-single", "--curves", folder / "curves.tsv", "--best", folder / "best.rw",
    )  # fmt: skip
    assert result.exit_code == 0 and "step absolute" in result.stdout and "moved alone" not in result.stdout
    header, *rows = [line.split("\t") for line in (folder / "curves.tsv").read_text().splitlines()]
    assert header == ["0", "0.5", "1"] and len(rows) == 4
    best = max(float(value) for row in rows for value in row)
    queries = rw.read_letor(folder / "data.txt")
    assert rw.evaluate(rw.load(folder / "best.rw"), queries)["ndcg@10"].mean == best


def test_conservative_by_itself_and_on_data(folder: Path, run: Run) -> None:
    result = run("diagnose", "conservative", "--rule", "spring", "--set", "margin=0.5", *FEW)
    assert result.exit_code == 0 and result.stdout.startswith(
        "Spring without a measure: conservative, convex"
    )
    result = run("diagnose", "conservative", "--set", "elastic=true", "--rule", "spring", "-m", "ndcg", *FEW)
    assert result.stdout.startswith("Spring with ndcg: not conservative")
    result = run("diagnose", "conservative", folder / "bad.rw", folder / "data.txt", "--json", *FEW)
    read = json.loads(result.stdout)
    assert (read["measure"], read["conservative"]) == ("ndcg@10", False)
    result = run("diagnose", "conservative", folder / "data.txt", "--json", *FEW)
    read = json.loads(result.stdout)
    assert (read["measure"], read["conservative"], len(read["labels"])) == (None, True, 5)


def test_pairs_by_measure(folder: Path, run: Run) -> None:
    files = folder / "good.rw", folder / "data.txt"
    result = run("diagnose", "pairs", *files, "-m", "ndcg", "-m", "mrr", "--json")
    ndcg, mrr = json.loads(result.stdout)
    assert ndcg["effective"] > mrr["effective"] > 0 and mrr["distinct"] < mrr["labelled"]
    result = run("diagnose", "pairs", *files, "-m", "mrr", "--rising")
    expected = rw.effective_pairs(rw.load(files[0]), rw.read_letor(files[1]), "mrr", counting="rising")
    assert result.stdout == f"{expected}\n" and expected.total < mrr["effective"]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("conservative", "--rule", "sprung"), 1, "there is no λ rule 'sprung'"),
        (("conservative", "--set", "margin"), 2, "--set 'margin' is not a parameter"),
        (("conservative", "--set", "margin=wide"), 1, "margin is 'wide'; give a finite number"),
        (("conservative", "data.txt", "data.txt"), 2, "give a model and data, data alone, or nothing"),
        (("conservative", "flat.txt"), 1, "finds nothing to tell apart"),
        (("optimality", "bad.rw", "data.txt", "--step", "0"), 1, "none of them 0"),
        (("optimalty", "bad.rw", "data.txt"), 2, "did you mean optimality?"),
        (("optimality", "bad.rw", "narrow.txt"), 0, ""),
    ],
)
def test_what_goes_wrong_is_one_line(
    folder: Path, run: Run, arguments: tuple[str, ...], status: int, message: str
) -> None:
    (folder / "flat.txt").write_text("1 qid:1 1:1 2:0 3:0\n1 qid:1 1:2 2:0 3:0\n")
    (folder / "narrow.txt").write_text("1 qid:1 1:1 2:2\n0 qid:1 1:2 2:1\n")
    given = [str(folder / each) if (folder / each).exists() else each for each in arguments]
    result = run("diagnose", *given)
    assert result.exit_code == status
    assert message in result.stderr and result.stderr.count("\n") == (1 if message else 0)


def test_help_has_examples(run: Run) -> None:
    assert "optimality" in run("diagnose").stdout
    for name in ("optimality", "conservative", "pairs"):
        assert f"rankwright diagnose {name} " in run("diagnose", name, "--help").stdout
