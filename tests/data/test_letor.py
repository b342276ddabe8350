import bz2
import gzip
import lzma
import os
import subprocess
import sys
import textwrap
import threading
import tracemalloc

import numpy as np
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conftest import JIT_OFF
from tests.data.letor_files import assert_same, written
from tests.naive import letor as naive
from tests.shared import shared_data

import rankwright as rw
from rankwright.data import blocks, letor_parsing

COMPRESS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}


@pytest.fixture
def small_pieces(monkeypatch):
    """Blocks and pieces so small that short files have many, all through the compiled kernel."""
    monkeypatch.setattr(blocks, "SMALL", 200)
    monkeypatch.setattr(blocks, "LARGE", 300)
    monkeypatch.setattr(blocks, "PIECE", 64)


EXAMPLES = {
    "the LETOR form": "2 qid:10 1:0.5 2:1e-3 #docid = G1 inc = 1 prob = 0\n0 qid:10 1:.25 2:-3. # docid=D2\n",
    "CRLF": "1 qid:1 1:0.5\r\n0 qid:1 1:2 #docid = 40626\r\n\r\n",
    "blank and comment lines": "# a file\n\n   \n1 qid:1 1:0.5\n  # more\n\t\n0 qid:2 1:1\n#",
    "no newline at the end": "1 qid:1 1:0.5\n0 qid:1 1:0.25",
    "a comment at the very end": "1 qid:1 1:0.5 #",
    "tabs and many blanks": "1\tqid:1\t 1:0.5   3:7  \t\n",
    "sparse": "1 qid:1 7:0.5\n0 qid:1 2:1 3:4\n0 qid:2\n",
    "unsorted": "1 qid:1 3:0.5 1:2 2:9\n",
    "zero-based": "1 qid:1 1:0.5\n0 qid:1 0:3 1:4\n",
    "missing": "1 qid:1 1:nan 2:NaN 3:NULL 4:null 5:-nan 6:+NAN\nnan qid:1 1:0\nNULL qid:2\n",
    "exponents": "1 qid:1 1:1e5 2:1E-5 3:1e+05 4:+1.5 5:-0 6:-.5e1 7:5.e0 8:1e-60\n",
    "labels": "0.5 qid:1\n-1 qid:1\n1e1 qid:1\n+2. qid:1\n0.1234567890123456789 qid:1\n1e23 qid:1\n",
    "text ids": "1 qid:abc 1:1\n0 qid:abc 1:1\n0 qid:GX-7/ü 1:1\n",
    "huge ids": "1 qid:123456789012345678901234567890 1:1\n0 qid:-5 1:1\n",
    "ids like numbers": "1 qid:007 1:1\n0 qid:7 1:1\n",
    "a colon in an id": "1 qid:a:b 1:1\n",
    "other comments": "1 qid:1 1:1 # WT04 B-1 \n0 qid:1 1:1 #docid\n0 qid:1 1:1 # docid = \n0 qid:1 1:1\n",
    "a comment right after a value": "1 qid:1 1:0.5#x\n0 qid:1#y\n",
    "long numbers": "1 qid:1 1:0.123456789012345678901234567890 2:12345678.12345678 3:16777217.0000000001\n",
    "no features": "1 qid:1\n0 qid:1\n0 qid:2\n",
}


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_form_reads_as_the_naive_reader_has_it(tmp_path, example):
    text = EXAMPLES[example]
    assert_same(rw.read_letor(written(tmp_path, text)), naive.read(text))


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_form_reads_the_same_in_pieces(tmp_path, small_pieces, example, n_jobs):
    text = "".join(
        f"{0.5 * k} qid:before{k // 3} {' '.join(f'{j}:{k * j / 7}' for j in range(1, k % 4 + 3))}\n"
        for k in range(40)
    )
    text += EXAMPLES[example]
    assert_same(rw.read_letor(written(tmp_path, text), n_jobs=n_jobs), naive.read(text))


REAL = {
    "mq2008": (15_211, 784, 46, {0: 12_279, 1: 2_001, 2: 931}),
    "ohsumed-letor2": (16_140, 106, 25, {0: 11_303, 1: 2_585, 2: 2_252}),
    "mslr-web10k-sample": (10_000, 86, 136, {0: 5_639, 1: 2_900, 2: 1_244, 3: 153, 4: 64}),
}


@pytest.mark.parametrize("name", REAL)
def test_real_data_has_the_published_counts(name):
    parts = [rw.read_letor(path) for path in sorted(shared_data(name).glob("*.txt"))]
    n, queries, features, labels = REAL[name]
    assert sum(map(len, parts)) == n
    assert sum(part.n_queries for part in parts) == queries
    assert {part.n_features for part in parts} == {features}
    values, counts = np.unique(np.concatenate([part.labels for part in parts]), return_counts=True)
    assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == labels
    documents = [part.documents for part in parts]
    assert all(ids is None for ids in documents) == (name == "mslr-web10k-sample")


@pytest.mark.parametrize("name", ["mq2008/S1.txt", "ohsumed-letor2/S2.txt", "mslr-web10k-sample/test.txt"])
def test_real_rows_are_what_the_naive_reader_has(tmp_path, name):
    with shared_data(name).open(newline="") as file:
        text = "".join(line for number, line in enumerate(file) if number < 150)
    assert_same(rw.read_letor(written(tmp_path, text)), naive.read(text))


def test_the_plain_and_the_compiled_kernel_agree_on_real_rows(tmp_path, monkeypatch):
    lines = shared_data("mslr-web10k-sample/train.txt").read_bytes().splitlines(keepends=True)
    path = written(tmp_path, b"".join(lines[:100]))
    monkeypatch.setattr(type(letor_parsing.parse_rows), "is_compiled", False)
    plain = rw.read_letor(path)
    monkeypatch.setattr(type(letor_parsing.parse_rows), "is_compiled", True)
    assert rw.read_letor(path).equals(plain)


@pytest.mark.parametrize("suffix", COMPRESS)
def test_compressed_files_read_as_plain_ones(tmp_path, small_pieces, suffix):
    text = "".join(f"{k % 3} qid:{k // 5} 1:{k / 7} 2:{k}\n" for k in range(100))
    path = written(tmp_path, COMPRESS[suffix](text.encode()), f"train.txt{suffix}")
    assert_same(rw.read_letor(path), naive.read(text))


@pytest.mark.parametrize("suffix", COMPRESS)
def test_a_compressed_file_that_is_cut_off_is_refused(tmp_path, suffix):
    text = "".join(f"{k % 3} qid:{k // 5} 1:{k / 7} 2:{k}\n" for k in range(2000))
    path = written(tmp_path, COMPRESS[suffix](text.encode())[:-20], f"train.txt{suffix}")
    with pytest.raises(rw.InputError, match=r"train\.txt\.\w+ is cut short"):
        rw.read_letor(path)


def test_a_byte_order_mark_is_passed_over(tmp_path):
    path = written(tmp_path, b"\xef\xbb\xbf1 qid:1 1:0.5\n")
    assert rw.read_letor(path).labels.tolist() == [1.0]


def test_rows_before_wider_ones_are_read_again(tmp_path, small_pieces):
    text = "".join(f"0 qid:1 {k + 1}:{k}\n" for k in range(60))
    assert_same(rw.read_letor(written(tmp_path, text)), naive.read(text))


def test_a_feature_0_at_the_end_makes_the_file_zero_based(tmp_path, small_pieces):
    text = "".join(f"0 qid:1 1:{k} 2:5\n" for k in range(60)) + "0 qid:1 0:7\n"
    queries = rw.read_letor(written(tmp_path, text))
    assert queries.n_features == 3
    assert_same(queries, naive.read(text))


def test_features_may_be_more_than_the_file_names(tmp_path):
    path = written(tmp_path, "1 qid:1 1:0.5\n")
    assert rw.read_letor(path, n_features=3).features.tolist() == [[0.5, 0.0, 0.0]]
    assert rw.read_letor(path, n_features=3, zero_based=True).features.tolist() == [[0.0, 0.5, 0.0]]
    assert rw.read_letor(path, zero_based=True).features.tolist() == [[0.0, 0.5]]
    assert rw.read_letor(path, zero_based=False).features.tolist() == [[0.5]]


def test_rows_of_a_query_may_be_apart_where_that_is_said(tmp_path, small_pieces):
    text = "".join(f"{k} qid:{'abc'[k % 3]} 1:{k} #docid = d{k}\n" for k in range(40))
    queries = rw.read_letor(written(tmp_path, text), scattered=True)
    given_rows = rw.QuerySet(
        np.arange(40.0)[:, None],
        range(40),
        qid=list("abc" * 13 + "a"),
        documents=[f"d{k}" for k in range(40)],
    )
    assert queries.equals(given_rows)


def test_lines_without_rows_leave_no_gap(tmp_path, small_pieces):
    text = "".join(f"{k} qid:1 1:{k}\n" + "\n# nothing\n" * (k % 4) for k in range(60))
    queries = rw.read_letor(written(tmp_path, text))
    assert queries.features[:, 0].tolist() == queries.labels.tolist() == list(range(60))


def test_comments_that_are_not_utf8_are_kept(tmp_path):
    queries = rw.read_letor(written(tmp_path, b"1 qid:\xe9 1:1 # caf\xe9\n"))
    assert queries.documents[0].encode(errors="surrogateescape") == b"caf\xe9"
    assert queries.query_ids[0].encode(errors="surrogateescape") == b"\xe9"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_read_once(tmp_path, small_pieces):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = "".join(f"{k % 3} qid:{k // 5} 1:{k} 2:{k / 7}\n" for k in range(100))

    def fed(contents):
        writer = threading.Thread(target=lambda: pipe.write_text(contents))
        writer.start()
        return writer

    writer = fed(text)
    assert_same(rw.read_letor(pipe), naive.read(text))
    writer.join()
    writer = fed(text + "0 qid:x 3:1\n")
    with pytest.raises(rw.InputError, match="read only once: give n_features and zero_based"):
        rw.read_letor(pipe)
    writer.join()


@pytest.mark.skipif(JIT_OFF, reason="without the JIT there is nothing that a small file could avoid")
def test_a_small_file_needs_no_compiler(tmp_path):
    path = written(tmp_path, "".join(f"{k % 3} qid:{k // 10} 1:{k / 7} 2:{k}\n" for k in range(20)))
    program = f"""
    import sys, rankwright as rw
    queries = rw.read_letor({str(path)!r})
    assert len(queries) == 20
    loaded = [name for name in ("numba", "sklearn", "pandas", "matplotlib") if name in sys.modules]
    assert not loaded, loaded
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)


numbers = st.one_of(
    st.integers(-1000, 20_000_000).map(str),
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-1e30, 1e30).map(repr),
    st.decimals(-(10**6), 10**6, places=6).map(str),
    st.sampled_from(["nan", "NULL", "-0", ".5", "5.", "1e-45", "16777217", "33554433e0"]),
)
indices = st.lists(st.integers(0, 12), unique=True, max_size=6)
blanks = st.sampled_from([" ", " ", " ", "  ", "\t"])
comments = st.sampled_from(["", "", "", " #docid = D1", "# two words ", "#", " # docid=x y"])
ends = st.sampled_from(["\n", "\n", "\r\n", "\n\n", "\n# comment\n"])


@st.composite
def letor_text(draw):
    lines = []
    for query in range(draw(st.integers(1, 4))):
        for _ in range(draw(st.integers(1, 5))):
            parts = [
                draw(numbers),
                f"qid:{draw(st.sampled_from(['', 'q']))}{query}" if not lines else f"qid:{query}",
            ]
            parts += [f"{index}:{draw(numbers)}" for index in draw(indices)]
            lines.append(draw(blanks).join(parts) + draw(comments) + draw(ends))
    return "".join(lines)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=letor_text(), n_jobs=st.sampled_from([1, 2]))
def test_generated_files_read_as_the_naive_reader_has_them(tmp_path, small_pieces, text, n_jobs):
    assert_same(rw.read_letor(written(tmp_path, text), n_jobs=n_jobs), naive.read(text))


def test_memory_is_the_matrix_and_a_few_buffers(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "SMALL", 1 << 12)
    monkeypatch.setattr(blocks, "LARGE", 1 << 16)
    row = " ".join(f"{index}:0.{index:06}" for index in range(1, 137))
    path = written(tmp_path, "".join(f"1 qid:{k // 100} {row}\n" for k in range(500 if JIT_OFF else 4000)))
    rw.read_letor(path, n_jobs=2)
    tracemalloc.start()
    queries = rw.read_letor(path, n_jobs=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.25 * queries.features.nbytes + (2 << 20) < path.stat().st_size + (2 << 20)
