"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rankwright.runtime.errors import InputError


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a path beside ``path`` to write to, and put it in its place once all went well.

    A device or a pipe (``/dev/stdout``) is written to directly, and a link stays a link.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with written_whole(folder / "scores.txt") as draft:
    ...     _ = draft.write_text("0.5")
    >>> (folder / "scores.txt").read_text()
    '0.5'
    """
    if Path(path).exists() and not Path(path).is_file():
        if Path(path).is_dir():
            raise InputError(f"{path} is a folder; give the name of a file to write")
        yield Path(path)
        return
    target = Path(path).resolve()
    draft = _draft(target)
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


def _draft(target: Path) -> Path:
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise InputError(f"{target} cannot be written in its folder ({error.strerror})") from error
    os.close(handle)
    return Path(name)
