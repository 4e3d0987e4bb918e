"""Terms as elements of a free ring: what is the same after multiplying out.

Main results
    normal_form    a term as an integer combination of words in a free ring: equal forms, equal matrices

References: theory §8.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

from semialg_fibers.errors import BudgetExceededError
from semialg_fibers.verify.expressions import SCALAR, Size, Term

Word = tuple[Any, ...]  # of atoms (head, name, shape, transposed, normal form inside, letters in all of it)
NormalForm = tuple[tuple[Word, int], ...]

BUDGET = 10_000  # letters in a normal form, those inside functions and inverses included, before anything cancels
MAX_NODES = 5_000  # of a term that is brought to a normal form


def normal_form(term: Term) -> NormalForm:
    """Give the term as a sum of integer multiples of words, sorted; terms with one normal form are equal matrices.

    Products are distributed over sums and transposes over both; factors are never exchanged, except numbers: 1×1
    factors, or products such as row times column, that stand side by side. Functions and inverses are atoms, told
    apart by the normal form of their argument.

    Raises:
        BudgetExceededError: when the sum has more than `BUDGET` letters, before equal words are put together.

    >>> from semialg_fibers.verify.expressions import matrix
    >>> A, B = matrix("A", "n", "n"), matrix("B", "n", "n")
    >>> normal_form(A @ (B + A)) == normal_form(A @ A + A @ B), normal_form(A @ B) == normal_form(B @ A)
    (True, False)
    """
    if term.count > MAX_NODES:
        raise BudgetExceededError(f"a term has more than {MAX_NODES:,} parts")
    return _frozen(_expanded(term, False))


def _letters(word: Word) -> int:
    """Count the letters of a word, those inside its functions included, and one for the word itself."""
    return 1 + sum(int(atom[-1]) for atom in word)


def _within(letters: int) -> None:
    if letters > BUDGET:
        raise BudgetExceededError(f"a term has more than {BUDGET:,} letters when it is multiplied out")


def _frozen(words: Counter[Word]) -> NormalForm:
    return tuple(sorted(((word, count) for word, count in words.items() if count), key=repr))


def _expanded(term: Term, transposed: bool) -> Counter[Word]:
    match term.head:
        case "zero":
            return Counter()
        case "identity":
            return Counter({(): 1})
        case "transpose":
            return _expanded(term.parts[0], not transposed)
        case "negative":
            return Counter({word: -count for word, count in _expanded(term.parts[0], transposed).items()})
        case "sum":
            total: Counter[Word] = Counter()
            letters = 0
            for part in term.parts:
                words = _expanded(part, transposed)
                letters += sum(map(_letters, words))
                _within(letters)
                total.update(words)
            return total
        case "product":
            result: Counter[Word] = Counter({(): 1})
            for part in reversed(term.parts) if transposed else term.parts:
                result = _multiplied(result, _expanded(part, transposed))
            return result
    inside = _frozen(_expanded(term.parts[0], False)) if term.parts else ()
    letters = 1 + sum(_letters(word) for word, _ in inside)
    turned = transposed and term.shape != SCALAR  # a 1×1 matrix is its own transpose
    return Counter({((term.head, term.name, term.shape, turned, inside, letters),): 1})


def _multiplied(left: Counter[Word], right: Counter[Word]) -> Counter[Word]:
    _within(len(right) * sum(map(_letters, left)) + len(left) * sum(map(_letters, right)))
    result: Counter[Word] = Counter()
    for word, count in left.items():
        for other, times in right.items():
            result[_sorted_numbers(word + other)] += count * times
    return result


def _sorted_numbers(word: Word) -> Word:
    """Sort the numbers in a word: what stands between two places of size 1 is a 1×1 matrix, and numbers commute."""
    places = [i for i in range(len(word) + 1) if _size_at(word, i) == 1]
    if len(places) < 3:
        return word
    numbers = [word[start:end] for start, end in pairwise(places)]
    middle = [atom for number in sorted(numbers, key=repr) for atom in number]
    return (*word[: places[0]], *middle, *word[places[-1] :])


def _size_at(word: Word, place: int) -> Size | None:
    """Give the number of rows of the factor that begins at a place of a word, or of columns of the one that ends."""
    if not word:
        return None
    rows: Size
    columns: Size
    _, _, (rows, columns), transposed, *_ = word[min(place, len(word) - 1)]
    return rows if (place == len(word)) == transposed else columns
