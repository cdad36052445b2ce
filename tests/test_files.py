"""Files are whole or absent."""

import pytest

from protolearn._files import replacing


def test_an_error_leaves_the_old_file(tmp_path):
    target = tmp_path / "folder" / "a.txt"
    with replacing(target) as path:
        path.write_text("old")
    with pytest.raises(ZeroDivisionError), replacing(target) as path:
        path.write_text(str(1 / len("half" * 0)))
    assert target.read_text() == "old"
    assert list(target.parent.iterdir()) == [target]


def test_the_ending_stays(tmp_path):
    with replacing(tmp_path / "a.png") as path:
        assert path.suffix == ".png"
        assert path.parent == tmp_path


def test_long_names(tmp_path):
    target = tmp_path / f"{'ä' * 120}.txt"  # 244 of the 255 bytes that a name may have
    with replacing(target) as path:
        path.write_text("whole")
    assert target.read_text() == "whole"
