"""Text in blocks of whole lines, so that a file of any size is read through a few buffers."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import BinaryIO, NamedTuple

import numpy as np

from rankwright.data.compressed import open_binary
from rankwright.data.decimals import PADDING
from rankwright.runtime.errors import InputError

SMALL = 1 << 17  # So much text is parsed in less time than a compiler takes to start.
LARGE = 1 << 23
PIECE = 1 << 18
LONGEST_LINE = 1 << 27
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
NEWLINE = b"\n"


class Block(NamedTuple):
    """Some whole lines of a file, and where they can be cut for threads.

    They end at the last cut, with a newline; ``completed`` says that the file itself lacks that one. There
    are ``lines[k]`` lines between ``cuts[k]`` and ``cuts[k + 1]``. ``share`` is how much of the file has been
    read with this block, 0 where that is not known; ``whole`` says that this block is all of it. A block is
    good until the next one is asked for.
    """

    text: bytearray
    cuts: list[int]
    lines: list[int]
    first_line: int
    completed: bool
    share: float
    whole: bool

    def line_of(self, position: int) -> int:
        """The number in the file, from 1, of the line at a position of the text."""
        return self.first_line + self.text.count(NEWLINE, 0, position)


@contextlib.contextmanager
def read_blocks(path: str | os.PathLike[str]) -> Iterator[Iterator[Block]]:
    r"""Open a file to read its blocks, the first one small; the next is read while one is at work.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "train.txt"
    >>> _ = path.write_text("1 qid:7 1:0.5\n0 qid:7")
    >>> with read_blocks(path) as blocks:
    ...     [(bytes(block.text[: block.cuts[-1]]), block.lines, block.completed) for block in blocks]
    [(b'1 qid:7 1:0.5\n0 qid:7\n', [2], True)]
    """
    with open_binary(path) as file, ThreadPoolExecutor(1, thread_name_prefix="rankwright-read") as reader:
        # Only this function waits for the thread: a generator may be closed anywhere, in that thread too.
        yield _read_ahead(_blocks(file, path), reader)


def _read_ahead(blocks: Iterator[Block], reader: ThreadPoolExecutor) -> Iterator[Block]:
    coming = reader.submit(next, blocks, None)
    while (block := coming.result()) is not None:
        coming = reader.submit(next, blocks, None)
        yield block


def _blocks(file: BinaryIO, path: str | os.PathLike[str]) -> Iterator[Block]:
    begun = file.read(len(BYTE_ORDER_MARK)).removeprefix(BYTE_ORDER_MARK)
    # One buffer is at work while the other is filled: using them again saves the system from clearing memory.
    spare, text = bytearray(), bytearray()
    first_line, size, ended = 1, SMALL, False
    while not ended:
        room = len(begun) + size
        spare, text = text, spare if len(spare) > room + PADDING else bytearray(room + 1 + PADDING)
        text[: len(begun)] = begun
        filled = len(begun) + _fill(file, memoryview(text)[len(begun) : room])
        ended = filled < room
        end = filled if ended else text.rfind(NEWLINE, 0, filled) + 1
        if end == 0 and filled > LONGEST_LINE:
            raise InputError(
                f"{path}, line {first_line}: the line is longer than {LONGEST_LINE >> 20} MB; "
                "give a file with one document a line"
            )
        begun = bytes(memoryview(text)[end:filled])
        size = LARGE if end else max(size, filled)
        if end:
            completed = text[end - 1] != ord(NEWLINE)
            if completed:
                text[end] = ord(NEWLINE)
            cuts, lines = _cut(text, end + completed)
            yield Block(text, cuts, lines, first_line, completed, _share(file), ended and first_line == 1)
            first_line += sum(lines)


def _fill(file: BinaryIO, buffer: memoryview) -> int:
    """Read until the buffer is full or the file ends; how much there is."""
    filled = 0
    while filled < len(buffer) and (n := file.readinto(buffer[filled:])):  # type: ignore[attr-defined]
        filled += n
    return filled


def _share(file: BinaryIO) -> float:
    """How much of a file has been read, compressed or not."""
    try:
        return os.lseek(file.fileno(), 0, os.SEEK_CUR) / os.fstat(file.fileno()).st_size
    except (OSError, ZeroDivisionError):  # a pipe
        return 0.0


def _cut(text: bytearray, end: int) -> tuple[list[int], list[int]]:
    cuts = [0]
    while cuts[-1] < end:
        cuts.append(text.find(NEWLINE, min(cuts[-1] + PIECE, end) - 1) + 1)
    newlines = np.frombuffer(text, np.uint8, end) == ord(NEWLINE)
    lines = [int(np.count_nonzero(newlines[a:b])) for a, b in itertools.pairwise(cuts)]
    return cuts, lines
