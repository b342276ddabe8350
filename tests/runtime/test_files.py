"""Files appear whole or not at all."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from rankwright.runtime.errors import InputError
from rankwright.runtime.files import written_whole


def test_nothing_appears_and_nothing_is_left_when_writing_fails(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), written_whole(tmp_path / "out.txt") as draft:
        draft.write_text("half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_an_old_file_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")
    with written_whole(target) as draft:
        draft.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_is_as_readable_as_any_other(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("")
    with written_whole(tmp_path / "out.txt") as draft:
        draft.write_text("new")
    assert (tmp_path / "out.txt").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target = tmp_path / "there" / "real.txt"
    target.write_text("old")
    link = tmp_path / "link.txt"
    link.symlink_to(target)
    with written_whole(link) as draft:
        draft.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    with written_whole(pipe) as draft:
        draft.write_text("through")
    reader.join()
    assert read == ["through"]
    assert pipe.is_fifo()


@pytest.mark.parametrize("name", ["", "absent/out.txt"])
def test_what_cannot_be_written_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="folder"), written_whole(tmp_path / name):
        raise AssertionError("nothing should be written")
