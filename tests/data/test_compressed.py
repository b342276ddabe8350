import bz2
import gzip
import lzma
import random

import pytest
import zstandard

from rankwright import InputError
from rankwright.data.compressed import open_binary

COMPRESS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}
TEXT = random.Random(0).randbytes(300_000) + b"a" * 500_000


@pytest.mark.parametrize("suffix", COMPRESS)
def test_content_is_that_of_the_plain_file(tmp_path, suffix):
    path = tmp_path / f"train.txt{suffix}"
    path.write_bytes(COMPRESS[suffix](TEXT))
    with open_binary(path) as file:
        assert file.read() == TEXT


@pytest.mark.parametrize("suffix", COMPRESS)
def test_files_put_together_read_as_one(tmp_path, suffix):
    path = tmp_path / f"train.txt{suffix}"
    path.write_bytes(COMPRESS[suffix](TEXT) + COMPRESS[suffix](b"the end"))
    with open_binary(path) as file:
        pieces = []
        while piece := file.read(10_007):
            pieces.append(piece)
    assert b"".join(pieces) == TEXT + b"the end"


@pytest.mark.parametrize("suffix", [suffix for suffix in COMPRESS if suffix])
def test_a_file_cut_short_is_refused(tmp_path, suffix):
    path = tmp_path / f"train.txt{suffix}"
    whole = COMPRESS[suffix](TEXT)
    for length in (3, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        cut_short = pytest.raises(
            InputError, match=rf"train.txt{suffix} is cut short or is not a {suffix} file"
        )
        with cut_short, open_binary(path) as file:
            file.read()


@pytest.mark.parametrize("suffix", [suffix for suffix in COMPRESS if suffix])
def test_a_file_of_another_kind_is_refused(tmp_path, suffix):
    path = tmp_path / f"train.txt{suffix}"
    path.write_bytes(b"1 qid:3 1:0.5\n" * 100)
    with pytest.raises(InputError, match=f"is not a {suffix} file"), open_binary(path) as file:
        file.read()


def test_a_file_that_cannot_be_opened_is_named(tmp_path):
    missing = pytest.raises(InputError, match=r"nowhere.txt cannot be opened: No such file")
    with missing, open_binary(tmp_path / "nowhere.txt"):
        pass
    with pytest.raises(InputError, match="cannot be opened"), open_binary(tmp_path):
        pass


def test_an_error_of_the_reader_is_left_alone(tmp_path):
    path = tmp_path / "train.txt.gz"
    path.write_bytes(gzip.compress(TEXT))
    with pytest.raises(KeyError), open_binary(path):
        raise KeyError("the reader's own")
