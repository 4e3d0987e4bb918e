"""Train the digits classifier 64-32-16-10 and keep it as an exact network, digits-64-32-16-10.json.

Needs scikit-learn alone: ``python notebooks/data/train_digits.py``. The file is written only after the network has
passed every check below, all of them exact except the comparison with scikit-learn's own floats.
"""

import json
import os
import platform
import tempfile
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import sklearn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

TARGET = Path(__file__).with_name("digits-64-32-16-10.json")
WIDTHS = (64, 32, 16, 10)
PRIME = 2**61 - 1

Row = list[Fraction]
ExactLayer = tuple[list[Row], Row]


def main() -> None:
    """Train, check, write, and print what README.md beside this file records."""
    pixels, digits = load_digits(return_X_y=True)
    train_x, test_x, train_y, test_y = train_test_split(
        pixels / 16.0, digits, test_size=0.25, random_state=0, stratify=digits
    )
    # alpha = 0: a penalty lets the weights of constant pixels and unused units decay until float32 has only 0 left.
    classifier = MLPClassifier(WIDTHS[1:-1], activation="relu", alpha=0, max_iter=500, random_state=0)
    classifier.fit(train_x, train_y)

    # Round to float32 once: the numbers kept are these, and shorter. coefs_ are (in, out); a weight here is (out, in).
    rounded = [
        (np.float32(weight).T, np.float32(bias))
        for weight, bias in zip(classifier.coefs_, classifier.intercepts_, strict=True)
    ]
    layers = [([exact_row(row) for row in weight], exact_row(bias)) for weight, bias in rounded]

    check_shape_and_zeros(layers)
    difference = compare_with_sklearn(layers, classifier, test_x[:20])
    correct = sum(int(np.argmax(logits(layers, exact_row(x)))) == y for x, y in zip(test_x, test_y, strict=True))

    write(layers)
    print(f"Python {platform.python_version()}, scikit-learn {sklearn.__version__}, numpy {np.__version__}")
    print(f"test accuracy of scikit-learn's floats: {classifier.score(test_x, test_y):.4f}")
    print(f"test accuracy of the exact network:     {correct}/{len(test_y)} = {correct / len(test_y):.4f}")
    print(f"largest difference of a logit at 20 test samples: {difference:.2e}")


def exact_row(row: np.ndarray) -> Row:
    """Return the floats of a vector as the dyadic rationals that they are."""
    return [Fraction(*float(value).as_integer_ratio()) for value in row]


def logits(layers: list[ExactLayer], point: Row) -> Row:
    """Evaluate the network exactly. The last layer is affine: scikit-learn's softmax is not part of the network."""
    for depth, (weight, bias) in enumerate(layers):
        point = [sum((w * x for w, x in zip(row, point, strict=True)), b) for row, b in zip(weight, bias, strict=True)]
        if depth < len(layers) - 1:
            point = [max(value, Fraction(0)) for value in point]
    return point


def check_shape_and_zeros(layers: list[ExactLayer]) -> None:
    """Refuse a network that violates (G1) or (G2): rank A1 = n1, no zero in [A2 | b2], no zero column in A3."""
    (a1, _), (a2, b2), (a3, _) = layers
    shapes = [(len(weight[0]), len(weight)) for weight, _ in layers]
    if shapes != list(pairwise(WIDTHS)):
        raise SystemExit(f"widths {WIDTHS} expected, layers (in, out) are {shapes}")
    if rank_modulo_prime(a1) != WIDTHS[1]:
        raise SystemExit("A1 has no full row rank modulo the prime; try another random_state")
    if not all(entry for row in [*a2, b2] for entry in row):
        raise SystemExit("[A2 | b2] has a zero; try another random_state")
    if not all(any(column) for column in zip(*a3, strict=True)):
        raise SystemExit("A3 has a zero column; try another random_state")


def rank_modulo_prime(matrix: list[Row]) -> int:
    """Return the rank modulo a 61-bit prime, a lower bound of the rank: full modulo the prime is full."""
    rows = [[entry.numerator * pow(entry.denominator, -1, PRIME) % PRIME for entry in row] for row in matrix]
    rank = 0
    for column in range(len(rows[0])):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        inverse = pow(rows[rank][column], -1, PRIME)
        for i in range(rank + 1, len(rows)):
            factor = rows[i][column] * inverse % PRIME
            rows[i] = [(a - factor * b) % PRIME for a, b in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank


def compare_with_sklearn(layers: list[ExactLayer], classifier: MLPClassifier, points: np.ndarray) -> float:
    """Return the largest difference to scikit-learn's logits, up to the constant that softmax forgets."""
    largest = 0.0
    for point, log_probabilities in zip(points, classifier.predict_log_proba(points), strict=True):
        ours = np.array([float(value) for value in logits(layers, exact_row(point))])
        theirs = own_logits(classifier, point)
        softmax = ours - ours.max() - np.log(np.exp(ours - ours.max()).sum())
        largest = max(largest, np.abs(ours - theirs).max(), np.abs(softmax - log_probabilities).max())
    if not largest < 1e-5:
        raise SystemExit(f"the exact network differs from scikit-learn's by {largest}")
    return float(largest)


def own_logits(classifier: MLPClassifier, point: np.ndarray) -> np.ndarray:
    """Return scikit-learn's float64 logits, from its own arrays in its own orientation (row vectors)."""
    for weight, bias in zip(classifier.coefs_[:-1], classifier.intercepts_[:-1], strict=True):
        point = np.maximum(point @ weight + bias, 0.0)
    return point @ classifier.coefs_[-1] + classifier.intercepts_[-1]


def write(layers: list[ExactLayer]) -> None:
    """Write the JSON network, one matrix row per line, to a temporary file that then takes the place of the old one."""
    blocks = []
    for weight, bias in layers:
        rows = ",\n    ".join(json.dumps([str(entry) for entry in row]) for row in weight)
        blocks.append(f'  {{"weight": [\n    {rows}],\n   "bias": {json.dumps([str(entry) for entry in bias])}}}')
    text = '{"format": "semialg_fibers/network", "version": 1, "domain": "space",\n "layers": [\n'
    text += ",\n".join(blocks) + "\n ]}\n"
    json.loads(text)
    with tempfile.NamedTemporaryFile(
        "w", dir=TARGET.parent, prefix=TARGET.name, suffix=".tmp", delete=False, encoding="utf-8"
    ) as file:
        file.write(text)
    os.chmod(file.name, 0o644)
    os.replace(file.name, TARGET)


if __name__ == "__main__":
    main()
