import bz2
import gzip
import lzma

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankwright.data import blocks

COMPRESS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=30),
    last=st.booleans(),
)
def test_blocks_hold_all_lines_whole_and_in_order(tmp_path, lines, last):
    content = b"\n".join(lines) + b"\n" * last
    path = tmp_path / "lines.txt"
    path.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "SMALL", 32)
        patch.setattr(blocks, "LARGE", 64)
        patch.setattr(blocks, "PIECE", 16)
        collected, line = b"", 1
        with blocks.read_blocks(path) as parts:
            for block in parts:
                assert block.first_line == line
                assert block.cuts[0] == 0 and len(block.text) >= block.cuts[-1] + blocks.PADDING
                for begin, end, n in zip(block.cuts, block.cuts[1:], block.lines, strict=False):
                    piece = bytes(block.text[begin:end])
                    assert piece.endswith(b"\n") and piece.count(b"\n") == n
                    collected += piece[: len(piece) - (block.completed and end == block.cuts[-1])]
                line += sum(block.lines)
                assert block.line_of(block.cuts[-1] - 1) == line - 1
                assert not block.whole or collected == content.removeprefix(blocks.BYTE_ORDER_MARK)
    assert collected == content.removeprefix(blocks.BYTE_ORDER_MARK)


@pytest.mark.parametrize("suffix", COMPRESS)
def test_the_share_that_has_been_read_rises_to_all(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(blocks, "LARGE", 1 << 18)
    path = tmp_path / f"lines.txt{suffix}"
    path.write_bytes(COMPRESS[suffix](b"".join(b"%d %d\n" % (k, k * k % 99991) for k in range(200_000))))
    with blocks.read_blocks(path) as parts:
        shares = [block.share for block in parts]
    assert shares == sorted(shares) and shares[-1] == 1.0
    assert 0 < shares[0] < 1 and len(shares) > 5
