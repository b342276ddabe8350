"""Files read as bytes, whether compressed or not; the ending of the name says which."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from rankwright.runtime.errors import InputError
from rankwright.runtime.files import written_whole

CHUNK = 1 << 16


@contextlib.contextmanager
def open_binary(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to read its bytes, through .gz, .xz, .bz2 or .zst where its name ends so.

    >>> import gzip, tempfile
    >>> path = Path(tempfile.mkdtemp()) / "train.txt.gz"
    >>> _ = path.write_bytes(gzip.compress(b"1 qid:7 1:0.5"))
    >>> with open_binary(path) as file:
    ...     file.read()
    b'1 qid:7 1:0.5'
    """
    path = Path(path)
    try:
        file = path.open("rb")
    except OSError as error:
        raise InputError(f"{path} cannot be opened: {error.strerror}") from error
    suffix = path.suffix.lower()
    with file:
        try:
            with _plain(file, suffix) as stream:
                yield stream
        except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, _Broken) as error:
            raise InputError(
                f"{path} is cut short or is not a {suffix} file ({error}); fetch it or make it again"
            ) from error


@contextlib.contextmanager
def create_binary(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to write bytes to it, through .gz, .xz, .bz2 or .zst where its name ends so.

    It appears once all is written.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "train.txt.xz"
    >>> with create_binary(path) as file:
    ...     _ = file.write(b"1 qid:7 1:0.5")
    >>> with open_binary(path) as file:
    ...     file.read()
    b'1 qid:7 1:0.5'
    """
    with (
        written_whole(path) as draft,
        draft.open("wb") as file,
        _compressing(file, Path(path).suffix.lower()) as stream,
    ):
        yield stream


def _compressing(file: BinaryIO, suffix: str) -> Any:
    if suffix == ".gz":
        # Without a name and a time, the same content makes the same file.
        return gzip.GzipFile("", "wb", 6, file, 0)
    if suffix == ".xz":
        return lzma.LZMAFile(file, "wb")
    if suffix == ".bz2":
        return bz2.BZ2File(file, "wb")
    if suffix == ".zst":
        import zstandard

        return zstandard.ZstdCompressor().stream_writer(file, closefd=False)
    return contextlib.nullcontext(file)


def _plain(file: BinaryIO, suffix: str) -> BinaryIO:
    if suffix == ".gz":
        return cast(BinaryIO, gzip.GzipFile(fileobj=file))
    if suffix == ".xz":
        return cast(BinaryIO, lzma.LZMAFile(file))
    if suffix == ".bz2":
        return cast(BinaryIO, io.BufferedReader(_Frames(file, bz2.BZ2Decompressor), CHUNK))
    if suffix == ".zst":
        import zstandard

        decompressor = zstandard.ZstdDecompressor()
        return cast(BinaryIO, io.BufferedReader(_Frames(file, decompressor.decompressobj), CHUNK))
    return file


class _Broken(Exception):
    """Compressed bytes that do not decompress."""


class _Frames(io.RawIOBase):
    """The content of one or more compressed frames; a frame that does not end is an error.

    The zstandard library's own reader takes a frame that was cut off for the end of the file, and bz2's
    refuses with the same type of error as a failing disk.
    """

    def __init__(self, file: BinaryIO, new_frame: Any):
        self._file = file
        self._new_frame = new_frame
        self._frame = new_frame()
        self._begun = False
        self._input = b""
        self._output = memoryview(b"")

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file.fileno()

    def readinto(self, buffer: Any) -> int:
        while not self._output:
            if not self._refill():
                return 0
        n = min(len(buffer), len(self._output))
        buffer[:n] = self._output[:n]
        self._output = self._output[n:]
        return n

    def _refill(self) -> bool:
        data = self._input or self._file.read(CHUNK)
        self._input = b""
        if not data:
            if self._begun:
                raise _Broken("the compressed data ends in the middle")
            return False
        self._begun = True
        try:
            self._output = memoryview(self._frame.decompress(data))
        except Exception as error:
            raise _Broken(str(error)) from error
        if self._frame.eof:
            self._input = self._frame.unused_data
            self._frame, self._begun = self._new_frame(), False
        return True
