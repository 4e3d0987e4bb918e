"""Sets of second-layer rows active together on a first-layer hyperplane whose masked products cancel (G4).

Main results
    cancelling_rows     the first k with one such J and a point, or None
    vanishing_mask      one realizable J ≠ ∅ with Σ_(j∈J) A3_·j A2_jk = 0, or None (proved)
    realizing_point     a point of the face h_k = 0 at which exactly the rows of J are positive
    told                the sentence that names k and J

References: theory §5 (G4).
"""

from __future__ import annotations

from collections.abc import Sequence

from semialg_fibers.errors import BudgetExceededError
from semialg_fibers.geometry.cone import strictly_feasible
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import ONE, ZERO, Vector
from semialg_fibers.geometry.subset_sum import zero_one_solutions
from semialg_fibers.networks.layer import Layer

CANDIDATE_LIMIT = 10_000

Mask = tuple[int, ...]


def vanishing_mask(products: Matrix, forms: Sequence[Vector], k: int) -> tuple[Mask, Vector] | None:
    """Give (J, h): J ≠ ∅, the columns of `products` (m × n2) in J sum to zero, exactly J is positive at h, h_k = 0.

    None when there is no such J. `forms` are the rows of [A2 | b2].

    Implements: theory §5.

    Raises:
        BudgetExceededError: when the search was not decided within its stated size.
    """
    faces = [(*form[:k], *form[k + 1 :]) for form in forms]
    always = [j for j, face in enumerate(faces) if all(v >= 0 for v in face) and any(face)]
    never = {j for j, face in enumerate(faces) if all(v <= 0 for v in face)}
    free = [j for j in range(len(forms)) if j not in never and j not in set(always)]
    target = tuple(-sum((products[a, j] for j in always), ZERO) for a in range(products.shape[0]))
    for count, chosen in enumerate(zero_one_solutions(products.select(columns=free), target)):
        if count >= CANDIDATE_LIMIT:
            raise BudgetExceededError(f"more than {CANDIDATE_LIMIT} sets of rows cancel; not all were looked at")
        mask = tuple(sorted([*always, *(free[i] for i in chosen)]))
        if mask:
            point = realizing_point(faces, mask)
            if point is not None:
                return mask, (*point[:k], ZERO, *point[k:])
    return None


def cancelling_rows(second: Layer, outgoing: Matrix) -> tuple[int, Mask, Vector] | None:
    """Give the first (k, J, h) for which rows J, active together at h on hyperplane k, cancel; None when none do.

    Raises:
        BudgetExceededError: naming the column k (place: `column`) whose search was not decided.
    """
    for k in range(second.inputs):
        columns = [[value * second.matrix[j, k] for value in c] for j, c in enumerate(outgoing.columns())]
        try:
            found = vanishing_mask(Matrix.from_columns(columns, outgoing.shape[0]), second.forms, k)
        except BudgetExceededError as error:
            raise BudgetExceededError(f"column {k + 1}: {error.message}", column=k) from None
        if found is not None:
            return (k, *found)
    return None


def told(k: int, mask: Mask) -> str:
    """Name the column and the rows that cancel."""
    rows = ", ".join(str(j + 1) for j in mask)
    return f"column {k + 1}: the sum over the rows {rows}, active together on the hyperplane, vanishes"


def realizing_point(faces: Sequence[Vector], mask: Mask) -> Vector | None:
    """Give h > 0 on the face at which the forms in the mask are positive and all others negative, or None."""
    size = len(faces[0])
    forms = [face if j in mask else tuple(-value for value in face) for j, face in enumerate(faces)]
    axes = [tuple(ONE if a == b else ZERO for b in range(size)) for a in range(size)]
    found = strictly_feasible([*forms, *axes], size)
    return None if found is None else tuple(value / found[-1] for value in found[:-1])
