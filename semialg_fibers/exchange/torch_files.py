"""PyTorch's files, judged before PyTorch sees them: what may be made of them, and how large.

Main results
    judged    the same file, in which nothing is named but tensors and plain values

PyTorch's own list of what a file may make without running code holds what takes memory for nothing, such as a bytearray
of a stated length, and its reader believes the sizes that an archive declares. Here every name that a pickle uses must
be on a shorter list, and an archive is packed again, so that both readers see the same members.
"""

from __future__ import annotations

import io
import pickletools
import re
import zipfile
from typing import Any, cast

from semialg_fibers.errors import InvalidNetworkError, UnsupportedError
from semialg_fibers.exchange.files import opened_archive
from semialg_fibers.geometry.scalar import shown

ADVICE = "save the state dict alone: torch.save(model.state_dict(), path)"
MARKS = {"set": "S", "bytearray": "B"}
STORAGES = ("Float", "Double", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool")
KNOWN = {f"torch {kind}Storage" for kind in STORAGES} | {
    "collections OrderedDict",
    "collections Counter",
    "collections defaultdict",
    "torch._utils _rebuild_tensor_v2",
    "torch._utils _rebuild_parameter",
    "torch.nn.parameter Parameter",
    "torch.serialization _get_layout",
    "__builtin__ complex",
    "builtins complex",
    "torch Size",
    "torch device",
}
DTYPES = {
    *("float16", "bfloat16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64", "bool"),
    *("complex64", "complex128"),
}
KNOWN |= {f"torch {dtype}" for dtype in DTYPES}
# A set and a bytearray are harmless where they are made of what is written down, as `LITERALS` says; called on anything
# else, such as a length or a tensor of repeated numbers, they take memory for nothing.
MAKERS = {f"{module} {name}": mark for module in ("__builtin__", "builtins") for name, mark in MARKS.items()}
MAKERS["_codecs encode"] = "C"  # of bytes, harmless anywhere
SIGNS = {
    **dict.fromkeys(("NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT"), "a"),
    **dict.fromkeys(("BINUNICODE", "SHORT_BINUNICODE"), "t"),
    **{"EMPTY_LIST": "L", "MARK": "M", "APPEND": "A", "APPENDS": "E", "EMPTY_TUPLE": "0"},
    **{"TUPLE1": "1", "TUPLE2": "2", "REDUCE": "R"},
}
LITERALS = re.compile(r"SL(?:M[at]*E|[at]A)*1R|B(?:0|Ctt2R1)R")
LATER = {"STACK_GLOBAL", "BYTEARRAY8", "FRAME", "MEMOIZE", "EMPTY_SET", "ADDITEMS", "FROZENSET", "SHORT_BINUNICODE"}
OPCODES = {"INST", "OBJ", "NEWOBJ", "NEWOBJ_EX", "STACK_GLOBAL", "EXT1", "EXT2", "EXT4", "BYTEARRAY8"}
LEGACY_PICKLES = 5  # magic number, version, system, object, names of the storages; then come bytes


def judged(raw: bytes) -> bytes:
    """Give the file with the same content, after each name in its pickles was found on the list.

    Raises:
        UnsupportedError: for anything that is no tensor and no plain value.
        InvalidNetworkError: for a damaged file, or one that unpacks to more than `MAX_MODEL_BYTES` bytes.
    """
    if raw[:2] == b"PK":
        return _archive(raw)
    stream = io.BytesIO(raw)
    for _ in range(LEGACY_PICKLES):
        _judge(stream)
    return raw


def _archive(raw: bytes) -> bytes:
    packed = io.BytesIO()
    names: set[str] = set()
    with opened_archive(raw, "PyTorch") as archive, zipfile.ZipFile(packed, "w") as again:
        for member in archive.infolist():
            if member.filename in names:
                raise InvalidNetworkError(f"the member {shown(member.filename)} stands there twice")
            names.add(member.filename)
            with archive.open(member) as stream:
                data = stream.read(member.file_size + 1)
            if member.filename.endswith(".pkl"):
                _judge(io.BytesIO(data))
            again.writestr(zipfile.ZipInfo(member.filename), data)
    return packed.getvalue()


def _judge(stream: io.BytesIO) -> None:
    """Read one pickle, its instructions only; leave the stream behind it."""
    signs: list[str] = []
    remembered: dict[int, str] = {}
    try:
        for opcode, told, _ in pickletools.genops(stream):
            name, argument = opcode.name, cast(Any, told)
            if name in LATER or (name == "PROTO" and argument > 3):
                raise UnsupportedError(
                    "the file was saved with a later pickle protocol, which PyTorch loads only by running code: "
                    "save it with PyTorch's default pickle_protocol",
                    value=name,
                )
            if name in OPCODES:
                raise UnsupportedError(f"the file makes objects by {name}, which may run code; {ADVICE}", value=name)
            if name == "GLOBAL" and argument not in KNOWN and argument not in MAKERS:
                raise UnsupportedError(
                    f"the file holds {_named(argument)}, which is not loaded: "
                    f"only tensors and plain values are; {ADVICE}",
                    value=argument,
                )
            if name in ("BINPUT", "LONG_BINPUT", "PUT"):
                remembered[int(argument)] = signs[-1] if signs and signs[-1] in "SBCat" else "."
            elif name in ("BINGET", "LONG_BINGET", "GET"):
                signs.append(remembered.get(int(argument), "."))
            else:
                signs.append(MAKERS.get(argument, ".") if name == "GLOBAL" else SIGNS.get(name, "."))
    except ValueError:
        raise InvalidNetworkError("this is no readable PyTorch file (a damaged pickle)") from None
    # What is remembered is put where it was, and makes nothing: it has no sign.
    left = LITERALS.sub("", "".join(signs))
    for kind, sign in MARKS.items():
        if sign in left:
            raise UnsupportedError(
                f"the file holds a {kind} of more than plain values, which may take any amount of memory; {ADVICE}",
                value=kind,
            )


def _named(place: str) -> str:
    """Give "module name" as it is written in Python."""
    return shown(place.replace(" ", ".").replace("__builtin__", "builtins"))
