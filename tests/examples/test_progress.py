import sys

from arrayflow.examples._progress import Progress


class TestProgress:
    def test_a_pipe_gets_the_notes_and_no_bar(self, capsys):
        with Progress(2) as bar:
            bar.step()
            bar.note("half")
            bar.step()
        assert capsys.readouterr() == ("half\n", "")

    def test_a_terminal_gets_a_bar_that_fills_and_goes(self, capsys, monkeypatch):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        with Progress(2) as bar:
            bar.step()
            bar.step()
        shown = capsys.readouterr().err
        assert f"[{'#' * 30}] 2/2" in shown
        assert shown.endswith("\r\x1b[K")

    def test_quiet_is_quiet(self, capsys, monkeypatch):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        with Progress(1, quiet=True) as bar:
            bar.step()
            bar.note("done")
        assert capsys.readouterr() == ("", "")
