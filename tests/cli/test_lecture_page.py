"""The command that writes the page of the lecture."""


def test_a_page_is_written_once(command, tmp_path):
    done = command("lecture", cwd=tmp_path)
    assert done.code == 0, done.err
    page = (tmp_path / "lecture.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    again = command("lecture", cwd=tmp_path)
    assert again.code == 2
    assert "--force" in again.sentence
    assert command("lecture", "--force", cwd=tmp_path).code == 0
