"""Float arrays as the exact dyadic rationals that they are, and exact numbers as floats again; for importers only.

Main definitions
    dyadic_matrix, dyadic_vector    a NumPy array of floats or integers as exact numbers
    nearest                         the float of a stated format that is nearest to an exact number

Every finite binary float is m · 2^e with integers m and e, so nothing is rounded on the way in. A row of a matrix is
kept as integers over one power of 2, found for the whole array at once, which is what makes large networks cheap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flint import fmpq

from semialg_fibers.errors import InexactInputError, InvalidNetworkError, UnsupportedError
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import Vector

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MAX_ENTRIES = 50_000_000  # of one array; a view with stride 0 can claim any number of entries for free
SIGNIFICAND = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}  # bits, the leading one included
LOWEST = {"float16": -24, "bfloat16": -133, "float32": -149, "float64": -1074}  # every value is a multiple of 2^this
HIGHEST = {"float16": 16, "bfloat16": 128, "float32": 128, "float64": 1024}  # every value is below 2^this


def dyadic_matrix(array: Any) -> Matrix:
    """Give a two-dimensional array of floats (16, bfloat16, 32, 64) or integers exactly: W[i, j] = m · 2^e.

    Raises:
        InexactInputError: for NaN and infinity (place: `row`, `column`).
        InvalidNetworkError: for another shape or more than `MAX_ENTRIES` entries.
        UnsupportedError: for other types of entries.

    >>> import numpy as np
    >>> dyadic_matrix(np.array([[0.5, 3]], dtype=np.float32))
    Matrix([['1/2', '3']])
    """
    values = _checked(array, 2)
    columns = int(values.shape[1])
    if values.dtype.kind in "iu":
        return Matrix.from_integers(values.tolist(), columns=columns)
    import numpy as np

    bits = SIGNIFICAND[values.dtype.name]
    with np.errstate(invalid="ignore"):  # signalling NaN, refused below
        values = values.astype(np.float64)  # exact: the widest of the four
    finite = np.isfinite(values)
    if not finite.all():
        row, column = (int(i) for i in np.argwhere(~finite)[0])
        raise InexactInputError(
            f"row {row + 1}, column {column + 1}: {values[row, column]} is not a number that a network can hold",
            row=row,
            column=column,
        )
    mantissas, exponents = np.frexp(values)
    integers = np.ldexp(mantissas, bits).astype(np.int64)
    rows, denominators = [], []
    for row, shifts in zip(integers, exponents.astype(np.int64) - bits, strict=True):
        lowest = min(int(shifts.min(initial=0, where=row != 0)), 0)
        lift = np.where(row != 0, shifts - lowest, 0)
        if int(lift.max(initial=0)) + bits <= 62:  # the shifted integers fit 64 bits with their sign
            rows.append((row << lift).tolist())
        else:
            rows.append([x << k for x, k in zip(row.tolist(), lift.tolist(), strict=True)])
        denominators.append(2**-lowest)
    return Matrix.from_integers(rows, denominators, columns)


def dyadic_vector(array: Any) -> Vector:
    """Give a one-dimensional array of floats or integers exactly.

    Raises:
        InexactInputError, InvalidNetworkError, UnsupportedError: as `dyadic_matrix` (place: `row`).

    >>> import numpy as np
    >>> dyadic_vector(np.array([0.25, -2.0]))
    (1/4, -2)
    """
    values = _checked(array, 1)
    try:
        return dyadic_matrix(values[:, None]).column(0)
    except InexactInputError as error:
        row = error.row
        raise InexactInputError(
            f"entry {row + 1}: {values[row]} is not a number that a network can hold", row=row
        ) from None


def _checked(array: Any, dimensions: int) -> npt.NDArray[np.generic]:
    import numpy as np

    values: npt.NDArray[np.generic] = np.asarray(array)
    if values.ndim != dimensions:
        kind = {1: "one dimension", 2: "two dimensions"}[dimensions]
        raise InvalidNetworkError(f"expected an array of {kind}, got shape {values.shape}")
    if values.size == 0 and len(values):  # it may claim any number of empty rows for free
        raise InvalidNetworkError(f"the rows of an array have at least one entry, got shape {values.shape}")
    if values.size > MAX_ENTRIES:
        raise InvalidNetworkError(f"{values.size:,} entries are more than the stated size of {MAX_ENTRIES:,}")
    if np.ma.is_masked(array):  # some entry is
        raise UnsupportedError("a masked array has entries that are not there: fill it, as in array.filled(0)")
    if values.dtype.kind not in "iu" and values.dtype.name not in SIGNIFICAND:
        raise UnsupportedError(
            f"entries of type {values.dtype.name} are not read: convert to float16, bfloat16, float32, float64 or "
            "integers, and see what that changes"
        )
    return values


def nearest(value: fmpq, form: str) -> tuple[float, bool]:
    """Give the float of this format nearest to `value`, ties to even, and whether it is equal to it.

    Computed in integers, for going through a longer format first would round twice.

    Raises:
        UnsupportedError: for a value beyond the range of the format, or another format.

    >>> nearest(fmpq(1, 2), "float16"), nearest(fmpq(1, 3), "float16")
    ((0.5, True), (0.333251953125, False))
    """
    if form not in SIGNIFICAND:
        raise UnsupportedError(f"the float format {form} is not known; known are {', '.join(SIGNIFICAND)}")
    p, q = int(value.p), int(value.q)
    if p == 0:
        return 0.0, True
    size = abs(p)
    # 2^top ≤ |value| < 2^(top + 1)
    top = size.bit_length() - q.bit_length()
    if (size << max(-top, 0)) < (q << max(top, 0)):
        top -= 1
    unit = max(top - SIGNIFICAND[form] + 1, LOWEST[form])  # what is kept is a multiple of 2^unit
    above, below = size << max(-unit, 0), q << max(unit, 0)
    count, rest = divmod(above, below)
    count += 2 * rest > below or (2 * rest == below and count % 2 == 1)
    if count.bit_length() + unit > HIGHEST[form]:
        raise UnsupportedError(
            f"a parameter of absolute value at least 2^{top} is beyond the range of {form}: it rounds to "
            f"2^{HIGHEST[form]} or more",
            value=value,
        )
    found = (count << unit) / 1 if unit >= 0 else count / (1 << -unit)
    return (-found if p < 0 else found), rest == 0
