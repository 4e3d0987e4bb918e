"""The mutants of the mutation testing: each is a program, and another one."""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from mutants import mutants_of  # noqa: E402
from mutate import judged, lives  # noqa: E402

MODULES = ["semialg_fibers/fibers/visibility.py", "semialg_fibers/fibers/letters.py"]


def test_every_mutant_can_be_compiled_and_is_another_program():
    """A test that is one operand of `and` has to be that operand, which no BoolOp of one value is."""
    dropped = 0
    for module in MODULES:
        for mutant in mutants_of(module).values():
            before = ast.dump(mutant.tree)
            mutant.do()
            compile(mutant.tree, mutant.path, "exec")
            dropped += ast.dump(mutant.tree).count("BoolOp(") < before.count("BoolOp(")
            assert ast.dump(mutant.tree) != before
            mutant.undo()
            assert ast.dump(mutant.tree) == before
    assert dropped == 2


def test_only_a_test_kills():
    assert [lives(outcome) for outcome in ("survived", "no test", "end 3", "end 1")] == [True] * 4
    assert [lives(outcome) for outcome in ("AssertionError", "timeout", "end -11")] == [False] * 3


def test_every_judgement_has_a_class_and_a_reason():
    for key, words in judged().items():
        module, _, digest, number = key.split()
        assert (ROOT / module).is_file()
        assert len(digest) == 8
        assert number.isdigit()
        kind, reason = words.split(": ", 1)
        assert kind in ("equivalent", "performance", "message")
        assert reason.strip()
