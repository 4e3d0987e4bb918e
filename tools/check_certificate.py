"""python tools/check_certificate.py FILE checks what `semialg-fibers same A B --json` wrote, with Python alone.

Exit 0 verified, 1 rejected, 2 no certificate, 3 not re-proved. No line of the package is imported. Differences are
evaluated, relabellings compared, single hidden layers reduced to jumps and a remainder, other pairs visited by cells.
"""

# fmt: off
import json
import re
import sys
from fractions import Fraction as Q

NUMBER = re.compile(r"[-+]?([0-9]+/0*[1-9][0-9]*|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,4})?)")
_list, _left = list.copy, [0]  # which refuses text; multiplications before the check gives up
def _number(text):  # JSON numbers come as text, too
    return Q(NUMBER.fullmatch(text)[0])
def _network(data):  # rows [W | b] of each layer, the forms that are >= 0 on the domain, and the forms x_1, ..., x_d
    rows = [zip(_list(layer["weight"]), _list(layer["bias"]), strict=True) for layer in _list(data["layers"])]
    layers = [[[*map(_number, _list(weights)), _number(bias)] for weights, bias in each] for each in rows]
    d, domain = len(layers[0][0]) - 1, data.get("domain", "space")
    axes = [[Q(i == j) for j in range(d + 1)] for i in range(d)]
    ends = {"space": [(..., ...)] * d, "orthant": [("0", ...)] * d}.get(str(domain)) or domain["box"]
    sides = [(axis, s, end) for axis, (low, high) in zip(axes, ends, strict=True) for s, end in ((1, low), (-1, high))]
    walls = [[*(s * v for v in axis[:d]), -s * _number(end)] for axis, s, end in sides if end != ...]
    if not _value(layers, [0] * d) or not _feasible(walls or [[Q(1)]]):  # rows of wrong lengths are errors in _value
        raise ValueError("a box without interior")
    return layers, walls, axes
def _value(layers, point):
    values = [sum(w * v for w, v in zip(row, [*point, Q(1)], strict=True)) for row in layers[0]]
    return _value(layers[1:], [max(v, Q(0)) for v in values]) if layers[1:] else values
def _relabelled(layers, orders, factors):  # new unit i is old unit order[i] times a positive factor
    made, before, last = [], [(j, Q(1)) for j in range(len(layers[0][0]) - 1)], len(layers[-1])
    for rows, order, scales in zip(layers, [*orders, [*map(str, range(last))]], [*factors, ["1"] * last], strict=True):
        units = [(int(_number(i)), _number(s)) for i, s in zip(_list(order), _list(scales), strict=True)]
        if sorted(i for i, _ in units) != [*range(len(rows))] or min(s for _, s in units) <= 0:
            return None
        made.append([[*(s * rows[i][j] / t for j, t in before), s * rows[i][-1]] for i, s in units])
        before = units
    return made
def _arrangement(layers, walls):  # the jumps on the hyperplanes that meet the domain, and the affine remainder
    rest, jumps = [[Q(0)] * (len(layers[0][0]) - 1) + row[-1:] for row in layers[-1]], {}
    for form, *weights in zip(layers[0], *layers[1], strict=False) if len(layers) > 1 else []:
        on, off = (_feasible([*walls, [sign * v for v in form]]) for sign in (1, -1))
        scale = next((v for v in form[:-1] if v), Q(0))
        if on and off:
            jump = jumps.setdefault(tuple(v / scale for v in form), [0] * len(weights))
            jump[:] = [u + abs(scale) * w for u, w in zip(jump, weights, strict=True)]
        if on and (not off or scale < 0):  # relu(-h) = relu(h) - h
            rest = [[u + w * v for u, v in zip(row, form, strict=True)] for row, w in zip(rest, weights, strict=True)]
    return {plane: jump for plane, jump in jumps.items() if any(jump)}, rest if len(layers) > 1 else layers[0]
def _feasible(forms):  # is there a point where all are > 0? Fourier and Motzkin eliminate one coordinate after another
    for size in range(len(forms[0]) - 1, 0, -1):
        up, down = ([[v / abs(f[0]) for v in f[1:]] for f in forms if s * f[0] > 0] for s in (1, -1))
        _left[0] -= (len(up) * len(down) + len(forms)) * size
        if _left[0] < 0:
            raise TimeoutError("this needs more multiplications than the check has")
        rest = [[u + v for u, v in zip(one, two, strict=True)] for one in up for two in down]
        rest += [f[1:] for f in forms if not f[0]] + [[Q(0)] * (size - 1) + [Q(1)]]
        forms = [*{tuple(v / next((abs(v) for v in f if v), 1) for v in f) for f in rest}]
    return all(form[0] > 0 for form in forms)
def _pieces(layers, forms, known):  # the affine maps of the layers after `forms`, on pieces of {known > 0}
    columns = [*zip(*forms, [Q(0)] * (len(forms[0]) - 1) + [Q(1)], strict=True)]
    made = [[sum(w * v for w, v in zip(row, c, strict=True)) for c in columns] for row in layers[0]]
    choices = [([], known)]
    for form in made if len(layers) > 1 else []:
        off = [-v for v in form] if any(form) else [*form[:-1], Q(1)]
        sides = (form, form), ([Q(0)] * len(form), off)
        tried = (([*done, kept], [*more, side]) for done, more in choices for kept, side in sides)
        choices = [(done, more) for done, more in tried if _feasible(more)]
    for done, more in choices:
        yield from _pieces(layers[1:], done, more) if len(layers) > 1 else [(made, known)]
def _proved(data):
    (a, walls, axes), (b, others, _) = _network(data["a"]), _network(data["b"])
    if (walls, len(axes), len(a[-1])) != (others, len(b[0][0]) - 1, len(b[-1])):
        return False
    if data["claim"] == "different":
        point, stated = [*map(_number, _list(data["point"]))], [[*map(_number, _list(row))] for row in data["values"]]
        outside = any(sum(v * w for v, w in zip([*point, 1], wall, strict=True)) < 0 for wall in walls)
        return not outside and stated[0] != stated[1] and stated == [_value(a, point), _value(b, point)]
    if data["claim"] != "same" or data["kind"] == "relabelling":
        return data["claim"] == "same" and _relabelled(a, data["orders"], data["factors"]) == b
    if max(len(a), len(b)) <= 2:
        return _arrangement(a, walls) == _arrangement(b, walls)
    return all(f == g for f, known in _pieces(a, axes, walls) for g, _ in _pieces(b, axes, known))
def _once(pairs):  # nothing for an object that says a key twice
    return dict(pairs) if len(dict(pairs)) == len(pairs) else None
def main(path, work=2_000_000):  # noqa: D103
    _left[0], data, text = work, None, {"parse_int": str, "parse_float": str, "parse_constant": str}
    try:
        with open(path, encoding="utf-8") as file:
            data = json.loads(file.read(2**27), object_pairs_hook=_once, **text)
        ["semialg_fibers/certificate 1"].index(f"{data['format']} {data['version']}")  # an error for any other
        return (0, f"verified: {data['claim']}") if _proved(data) else (1, "rejected")
    except Exception as error:
        if data and isinstance(error, (TimeoutError, MemoryError, RecursionError)):
            return 3, f"not re-proved: {error}"
        return 2, f"error: no certificate that can be read ({type(error).__name__}: {str(error)[:80]!r})"
if __name__ == "__main__":
    sys.exit(print((found := main(*sys.argv[1:]))[1]) or found[0])
