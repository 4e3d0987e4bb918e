"""The mutants of a file: one comparison, operator, constant, call or statement changed at a time.

Not changed: what runs at import (defaults of parameters and fields, constants), annotations, docstrings, assertions.
A string becomes another one, too, so that a message that no test reads is seen to be read by none.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

ORDER: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,), ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Add,), ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,), ast.Mod: (ast.Mult,), ast.Pow: (ast.Mult,), ast.BitOr: (ast.BitAnd,),
    ast.BitAnd: (ast.BitOr,), ast.BitXor: (ast.BitOr,), ast.And: (ast.Or,), ast.Or: (ast.And,),
}  # fmt: skip
TWINS = {"any": "all", "all": "any", "min": "max", "max": "min", "union": "intersection", "append": "extend"}
Address = tuple[str, str, int]  # file, qualified name, first line
Change = tuple[ast.AST, Callable[[], Any], Callable[[], Any]]  # where, do, undo


def _put(place: ast.AST, owner: ast.AST, field: str, value: Any, index: int | None = None) -> Change:
    old = getattr(owner, field)
    new = value if index is None else [*old[:index], value, *old[index + 1 :]]
    return place, lambda: setattr(owner, field, new), lambda: setattr(owner, field, old)


def _changes(node: ast.AST, owner: ast.AST, field: str, index: int | None) -> Iterator[Change]:
    """Yield the changes of one node, which stands in `field` of its owner."""

    def become(new: ast.AST) -> Change:
        return _put(node, owner, field, ast.fix_missing_locations(ast.copy_location(new, node)), index)

    match node:
        case ast.Compare(ops=ops):
            for i, old in enumerate(ops):
                yield from (_put(node, node, "ops", new(), i) for new in ORDER[type(old)])
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in ORDER:
            yield from (_put(node, node, "op", new()) for new in ORDER[type(op)])
            if isinstance(node, ast.AugAssign):
                yield become(ast.Pass())
        case ast.BoolOp(op=op, values=values):
            yield _put(node, node, "op", ORDER[type(op)][0]())
            for i in range(len(values)):
                if len(values) > 2:
                    yield _put(node, node, "values", values[:i] + values[i + 1 :])
                else:  # of one operand alone there is no BoolOp
                    yield _put(node, owner, field, values[1 - i], index)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield become(operand)
        case ast.Constant(value=bool() as value):
            yield become(ast.Constant(not value))
        case ast.Constant(value=int() | float() as value):
            yield from (become(ast.Constant(value + step)) for step in (1, -1))
        case ast.Constant(value=str() as value) if not isinstance(owner, ast.JoinedStr | ast.FormattedValue | ast.Expr):
            yield become(ast.Constant(f"XX{value}"))
        case ast.JoinedStr(values=values):
            yield become(ast.JoinedStr([ast.Constant("XX"), *values]))
        case ast.Return(value=value) if value is not None and getattr(value, "value", 0) is not None:
            yield become(ast.Return(ast.Constant(None)))
        case ast.Raise() | ast.Expr(value=ast.Call()):
            yield become(ast.Pass())
        case ast.Continue() | ast.Break():
            yield become(ast.Pass())
            yield become(ast.Break() if isinstance(node, ast.Continue) else ast.Continue())
        case ast.Call(func=func, args=args):
            if len(args) > 1 and not any(isinstance(a, ast.Starred) for a in args[:2]):
                yield _put(node, node, "args", [args[1], args[0], *args[2:]])
            if isinstance(func, ast.Name) and func.id in TWINS:
                yield _put(node, func, "id", TWINS[func.id])
            elif isinstance(func, ast.Attribute) and func.attr in TWINS:
                yield _put(node, func, "attr", TWINS[func.attr])
    if isinstance(node, ast.expr) and (field, type(owner)) in {
        ("test", ast.If), ("test", ast.While), ("test", ast.IfExp), ("ifs", ast.comprehension),
    } and not isinstance(node, ast.Compare | ast.UnaryOp):  # fmt: skip
        yield become(ast.UnaryOp(ast.Not(), node))


def _visit(node: ast.AST, lines: range) -> Iterator[tuple[range, Change]]:
    """Yield all changes below a node, each with the lines of its statement."""
    for field, content in ast.iter_fields(node):
        if field in ("annotation", "returns", "args" if isinstance(node, ast.FunctionDef) else "", "decorator_list"):
            continue
        for i, child in enumerate(content if isinstance(content, list) else [content]):
            if not isinstance(child, ast.AST) or isinstance(child, ast.Assert):
                continue
            if isinstance(child, ast.stmt):
                body = getattr(child, "body", None)
                lines = range(child.lineno, (body[0].lineno if body else (child.end_lineno or child.lineno) + 1))
            yield from ((lines, change) for change in _changes(child, node, field, i if content is not child else None))
            yield from _visit(child, lines)


class Mutant:
    """One change of one function, and what it is called in the record."""

    def __init__(  # noqa: D107
        self, path: str, tree: ast.Module, top: ast.FunctionDef, name: str, lines: range, change: Change
    ) -> None:
        self.path, self.tree, self.lines = path, tree, lines
        self.first = min([top.lineno, *(decorator.lineno for decorator in top.decorator_list)])
        self.name = name
        place, self.do, self.undo = change
        self.line = place.lineno  # type: ignore[attr-defined]
        statement = ast.unparse(place)
        self.do()
        self.text = f"{statement}  →  {ast.unparse(place)}"
        if ast.unparse(place) == statement:  # the node itself was replaced: show its function's first changed line
            after = ast.unparse(top).splitlines()
            self.undo()
            before = ast.unparse(top).splitlines()
            pair = next(((x, y) for x, y in zip(before, after, strict=False) if x != y), ("", ""))
            self.text = "  →  ".join(text.strip() for text in pair)
        self.undo()

    def install(self, living: dict[Address, list[FunctionType]]) -> bool:
        """Exchange the code of the living function."""
        self.do()
        codes, found = [compile(self.tree, self.path, "exec")], None
        self.undo()
        while codes and found is None:
            code = codes.pop()
            found = code if (code.co_qualname, code.co_firstlineno) == (self.name, self.first) else None
            codes += [value for value in code.co_consts if isinstance(value, CodeType)]
        same = living[self.path, self.name, self.first] if found is not None else []
        for function in same:
            function.__code__ = found
        return bool(same)


def mutants_of(module: str) -> dict[str, Mutant]:
    """Give all mutants of a file by key: module, function, digest of the function, number."""
    path = str(ROOT / module)
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    tops = [(node.name, node) for node in tree.body if isinstance(node, ast.FunctionDef)]
    for owner in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        tops += [(f"{owner.name}.{node.name}", node) for node in owner.body if isinstance(node, ast.FunctionDef)]
    found = {}
    for name, top in tops:
        digest = hashlib.sha256(ast.dump(top).encode()).hexdigest()[:8]
        for number, (lines, change) in enumerate(_visit(top, range(0))):
            found[f"{module} {name} {digest} {number}"] = Mutant(path, tree, top, name, lines, change)
    return found
