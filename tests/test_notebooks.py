"""Every notebook runs from its first cell to its last, and ends in an assertion."""

import importlib.util
import sys
import warnings
from pathlib import Path

import pytest
from guard import GUARD

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
NEEDS = {"07_a_trained_network": "sklearn"}  # beyond the extra "notebooks"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_runs(path, tmp_path, monkeypatch):
    if path.stem in NEEDS and importlib.util.find_spec(NEEDS[path.stem]) is None:
        pytest.skip(f"needs {NEEDS[path.stem]}: pip install 'semialg-fibers[{NEEDS[path.stem]}]'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Jupyter's own packages warn of is not ours
        import nbformat
        from nbclient import NotebookClient

        book = nbformat.read(path, as_version=4)
        # The kernel must see the package that this test sees, and run on this Python.
        monkeypatch.setenv("PYTHONPATH", str(path.parents[1]))
        monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
        monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
        monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
        kernels = tmp_path / "kernels" / "this_python"
        kernels.mkdir(parents=True)
        command = f'["{sys.executable}", "-m", "ipykernel_launcher", "-f", "{{connection_file}}"]'
        spec = f'{{"argv": {command}, "display_name": "this Python", "language": "python"}}'
        (kernels / "kernel.json").write_text(spec)
        NotebookClient(
            book, timeout=GUARD, kernel_name="this_python", resources={"metadata": {"path": str(path.parent)}}
        ).execute()
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code)
    assert "assert " in code[-1].source


def test_there_are_notebooks():
    assert NOTEBOOKS
