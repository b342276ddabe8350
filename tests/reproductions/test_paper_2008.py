"""2008's experiments: what they make of results, and their short forms on data of OHSUMED's form."""

from __future__ import annotations

import pytest

from rankwright.data.synthetic import topic_distillation
from rankwright.reproductions import Setting, paper_2008, paper_2008_training
from rankwright.reproductions.runner import run


def test_means_over_folds_and_their_spread():
    results = {}
    for system in (*paper_2008.SYSTEMS, *paper_2008.MORE, "McRank"):
        for k, value in ((1, 0.4), (2, 0.6)):
            found = dict.fromkeys(paper_2008.MEASURES, value) | {"slack": value}
            results[f"{system}; both dropped, fold {k}"] = found
    results["MRR; both dropped, fold 2"]["MRR10"] = 0.4
    figures = paper_2008.figure_9_figures(results)
    assert figures["AUC, MAP; both dropped"] == pytest.approx(0.5)
    assert figures["MRR for MRR10; both dropped"] == pytest.approx(0.1)
    assert figures["φ_mrr over φ_po; both dropped"] == pytest.approx(-0.1)
    [table] = paper_2008.figure_9_tables(results)
    shown = dict.fromkeys(paper_2008.MEASURES, "0.500 ± 0.100")
    assert table.rows[0] == {"trained for": "AUC", **shown, "slack left": 0.5}


@pytest.fixture
def like_ohsumed(tmp_path):
    folder = tmp_path / paper_2008.OHSUMED
    folder.mkdir()
    for k in range(5):
        topic_distillation(4, 60, 16, 5, random_state=k).to_letor(folder / f"S{k + 1}.txt")
    return Setting(data=tmp_path, n_jobs=1)


def test_theorems_hold_on_any_data(like_ohsumed):
    found = run(paper_2008_training.BOUNDS, like_ohsumed)
    assert [outcome.state for outcome in found.outcomes] == ["OK"] * 3
    assert all(table.rows for table in paper_2008_training.BOUNDS.tables(found.results))


def test_paths_of_c(like_ohsumed):
    found = paper_2008_training.along_c(like_ohsumed, paper_2008.SYSTEMS["AUC"])
    assert found["zero"] == pytest.approx(1.0)
    assert all(0 < step["slack"] <= 1 and step["gap"] <= 1e-3 for step in found["path"])
    figures = paper_2008_training.figure_4_figures({"AUC": found})
    assert figures["slack of AUC"] < 1 and figures["|w| of AUC grows"]
    assert len(paper_2008_training.figure_4_tables({"AUC": found})) == 3


def test_one_system_and_mcrank_on_one_fold(like_ohsumed):
    for found in (
        paper_2008.tested(like_ohsumed, paper_2008.SYSTEMS["MAP"], 1, "bad dropped"),
        paper_2008.mcrank_tested(like_ohsumed, 1, "all documents"),
    ):
        assert all(0 < found[measure] <= 1 for measure in paper_2008.MEASURES)
    pieces = paper_2008.figure_9_pieces(like_ohsumed)
    assert len(pieces) == len(paper_2008.SYSTEMS) + len(paper_2008.MORE) + len(paper_2008.MCRANKS)


def test_seconds():
    systems = dict.fromkeys((*paper_2008_training.TIMED, "McRank"), 2.0)
    results = dict.fromkeys(paper_2008_training.SECONDS, systems)
    figures = paper_2008_training.figure_10_figures(results)
    assert figures["DORM, TD2004"] == 2.0 and figures["McRank over SVMNDCG, TD2003"] == 1.0
    assert len(paper_2008_training.figure_10_tables(results)[0].rows) == 12
