"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a path beside ``path`` to write to, and put it in its place once all went well.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with written_whole(folder / "scores.txt") as draft:
    ...     _ = draft.write_text("0.5")
    >>> (folder / "scores.txt").read_text()
    '0.5'
    """
    target = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        with draft.open("rb+") as written:
            os.fsync(written.fileno())
        # mkstemp makes files only their owner can read; a result should be as readable as any other file.
        umask = os.umask(0)
        os.umask(umask)
        draft.chmod(0o666 & ~umask)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
