"""What tools/fuzz.py does to files of arrays, and to bytes and archives of any kind.

Main definitions
    bytes_changed       bytes flipped, cut, doubled, put in
    zip_changed         members of an archive changed, renamed, packed otherwise, their declared sizes untrue
    file_kinds          .npz, .safetensors
"""

from __future__ import annotations

import io
import json
import math
import random
import struct
import zipfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_text import Kind, mutated, tree_changed

from semialg_fibers import from_npz, from_safetensors

HUGE = [0, 1, 2, 3, 7, 255, 10**6, 2**31 - 1, 2**31, 2**32 - 1, 10**10, 2**63 - 1, 2**63, 10**15, 10**30, -1, -(2**63)]
BYTES = [
    b"",
    b"\0",
    b"\xff" * 8,
    b"\x7f" + b"\xff" * 7,
    b"\0" * 64,
    b"PK\x01\x02",
    b"PK\x05\x06",
    b"..",
    b"9" * 5000,
    b"(",
]


def bytes_changed(rng: random.Random, raw: bytes) -> bytes:
    """Flip, cut, double or put in bytes at a few places."""
    for _ in range(rng.choice([1, 1, 2, 4, 8])):
        at = rng.randrange(len(raw) + 1)
        what = rng.choice(["flip", "flip", "number", "put", "cut", "double", "end"])
        if what == "flip" and at < len(raw):
            raw = raw[:at] + bytes([raw[at] ^ (1 << rng.randrange(8))]) + raw[at + 1 :]
        elif what == "number":
            size = rng.choice([1, 2, 4, 8])
            value = (rng.choice(HUGE) % 2 ** (8 * size)).to_bytes(size, rng.choice(["little", "big"]))
            raw = raw[:at] + value + raw[at + size :]
        elif what == "put":
            raw = raw[:at] + rng.choice(BYTES) + raw[at:]
        elif what == "end" and rng.random() < 0.3:
            raw = raw[:at]
        else:
            to = min(len(raw), at + rng.choice([1, 4, 30, 200]))
            raw = raw[:at] + (raw[at:to] * 2 if what == "double" else b"") + raw[to:]
    return raw


# archives

Members = list[tuple[str, int, bytes]]  # name, how it is packed, what it holds


def members_of(raw: bytes) -> Members:
    """Give the members of an archive."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        return [(member.filename, member.compress_type, archive.read(member)) for member in archive.infolist()]


def zipped(members: Members) -> bytes:
    """Give an archive of these members."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, packed, data in members:
            archive.writestr(zipfile.ZipInfo(name), data, packed, 1)  # no date: the same bytes in every run
    return made.getvalue()


def zip_changed(rng: random.Random, raw: bytes, inner: Callable[[random.Random, str, bytes], bytes]) -> bytes:
    """Change members by `inner`, their names and packing, the sizes that the archive declares, or its bytes."""
    what = rng.choice(["inner", "inner", "inner", "inner", "members", "sizes", "bytes"])
    if what == "bytes":
        return bytes_changed(rng, raw)
    members = _members(raw)[:]
    if what == "inner":
        for at in rng.sample(range(len(members)), min(len(members), rng.choice([1, 1, 2]))):
            name, packed, data = members[at]
            members[at] = (name, packed, inner(rng, name, data))
    elif what == "members":
        at = rng.randrange(len(members))
        name, _, data = members[at]
        packed = rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
        name = rng.choice(
            [name, name, rng.choice(members)[0], "../" + name, "W9.npy", "b1", "?", "W1.npy.npy", "/etc/x"]
        )
        new = (name, packed, data if rng.random() < 0.8 else b"\0" * rng.choice([0, 1, 10**6]))
        if rng.random() < 0.3:
            del members[at]
        else:
            members[at : at + rng.choice([0, 1])] = [new]
    made = bytearray(_quietly_zipped(members))
    if what == "sizes":  # offsets 20, 24 of an entry of the table: packed and unpacked size; 10: the way of packing
        entries = [at for at in range(len(made) - 46) if made[at : at + 4] == b"PK\x01\x02"]
        for at in rng.sample(entries, min(len(entries), 2)):
            offset, form = rng.choice([(20, "<I"), (24, "<I"), (24, "<I"), (10, "<H"), (42, "<I"), (8, "<H")])
            struct.pack_into(form, made, at + offset, rng.choice(HUGE) % 2 ** (8 * struct.calcsize(form)))
    return bytes(made)


@lru_cache(maxsize=64)
def _members(raw: bytes) -> Members:
    return members_of(raw)


def _quietly_zipped(members: Members) -> bytes:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that stand there twice
        return zipped(members)


# arrays

TYPES = [
    "<f4",
    "<f8",
    ">f4",
    "<f2",
    "<i8",
    "<i1",
    "|u1",
    "<u8",
    "<c8",
    "|O",
    "|b1",
    "<U4",
    "|S0",
    "|V0",
    "<M8[s]",
    "<f16",
]


def npy_changed(rng: random.Random, name: str, raw: bytes) -> bytes:
    """Change the header or the data of an array in NumPy's format."""
    if rng.random() < 0.3:
        return bytes_changed(rng, raw)
    size = int.from_bytes(raw[8:10], "little")
    header, data = raw[10 : 10 + size].decode("latin-1").rstrip(), raw[10 + size :]
    what = rng.choice(["type", "shape", "text", "data"])
    if what == "type":
        header = header.replace(header.split("'")[3], rng.choice(TYPES), 1)
    elif what == "shape":
        shape = tuple(rng.choice([*HUGE, 2]) for _ in range(rng.choice([0, 1, 2, 2, 2, 3, 40])))
        header = header.split("'shape'")[0] + f"'shape': {shape}, }}"
        data = b"" if 0 in shape and rng.random() < 0.7 else data
    elif what == "text":
        header = mutated(rng, header)
    else:
        data = bytes_changed(rng, data)
    text = header.encode("latin-1", "replace") + b"\n"
    return b"\x93NUMPY\x01\x00" + min(len(text), 65535).to_bytes(2, "little") + text[:65535] + data


def npz_seeds() -> list[bytes]:
    """Give .npz files of several types of numbers, packed or not."""
    made = []
    for write, kind in [(np.savez, "f8"), (np.savez_compressed, "f4"), (np.savez, "f2"), (np.savez, "i4")]:
        file = io.BytesIO()
        first = np.asfortranarray(np.array([[1, -2], [3, 4]], kind))
        write(file, W1=first, b1=np.zeros(2, kind), W2=np.ones((1, 2), kind), b2=np.ones(1, kind))
        made.append(zipped(members_of(file.getvalue())))
    return made


def safetensors_bytes(header: str, data: bytes) -> bytes:
    """Give a file with this header."""
    return len(header.encode(errors="replace")).to_bytes(8, "little") + header.encode(errors="replace") + data


def safetensors_seeds() -> list[bytes]:
    """Give .safetensors files of several types of numbers."""
    made = []
    for form, kind in [("F32", "<f4"), ("BF16", "<u2"), ("I64", "<i8"), ("F64", "<f8")]:
        header: dict[str, Any] = {"__metadata__": {"made": "here"}}
        data = b""
        for name, shape in [("fc1.weight", (2, 2)), ("fc1.bias", (2,)), ("fc2.weight", (1, 2)), ("fc2.bias", (1,))]:
            raw = np.arange(math.prod(shape)).astype(kind).tobytes()
            header[name] = {"dtype": form, "shape": list(shape), "data_offsets": [len(data), len(data) + len(raw)]}
            data += raw
        made.append(safetensors_bytes(json.dumps(header), data))
    return made


ENTRIES: list[Any] = [
    *HUGE, "F16", "BF16", "F32", "F64", "U64", "I8", "BOOL", "F8_E4M3", [0], [2, 2], [0, 10**14], [0, 10**14, 10**14,
    10**14],
    [1] * 9, [0, 16], [16, 0], 0.5, None, [], {}, {"dtype": "F32", "shape": [], "data_offsets": [0, 4]}, "x", True,
]  # fmt: skip
KEYS = [
    "fc1.weight",
    "fc2.weight",
    "fc3.weight",
    "fc3.bias",
    "weight",
    ".weight",
    "0.weight",
    "9" * 5000 + ".weight",
    "a.b.c",
]


def safetensors_drawn(rng: random.Random) -> bytes:
    """Give a file whose offsets fit its shapes, whatever these are."""
    header, at = {}, 0
    names = rng.choice(
        [["fc1.weight", "fc1.bias", "fc2.weight"], rng.sample(KEYS, 3), ["x.weight", "10.weight", "9.weight"]]
    )
    for name in names:
        form, size = rng.choice([("F32", 4), ("F16", 2), ("BF16", 2), ("F64", 8), ("I8", 1), ("BOOL", 1)])
        shape = [
            rng.choice([0, 1, 1, 2, 2, 3, 10**6, 10**14, 10**15]) for _ in range(rng.choice([0, 1, 2, 2, 2, 3, 8]))
        ]
        length = min(math.prod(shape) * size, 10**5)
        header[name] = {"dtype": form, "shape": shape, "data_offsets": [at, at + length]}
        at += length
    return safetensors_bytes(json.dumps(header), rng.choice([b"\0", b"\x3c"]) * at)


def safetensors_changed(rng: random.Random, raw: bytes) -> bytes:
    """Change the header, as a tree or as text, its length, or the data."""
    if rng.random() < 0.35:
        return bytes_changed(rng, raw) if rng.random() < 0.5 else safetensors_drawn(rng)
    size = int.from_bytes(raw[:8], "little")
    header, data = raw[8 : 8 + size].decode(), raw[8 + size :]
    what = rng.choice(["tree", "tree", "tree", "text", "data", "length"])
    if what == "tree":
        header = tree_changed(rng, header, ENTRIES, KEYS)
    elif what == "text":
        header = mutated(rng, header)
    elif what == "data":
        data = bytes_changed(rng, data)
    made = safetensors_bytes(header, data)
    return (rng.choice(HUGE) % 2**64).to_bytes(8, "little") + made[8:] if what == "length" else made


def file_kinds(folder: Path) -> list[Kind]:
    """Give the kinds of this file, which work in `folder`."""

    def from_file(read: Callable[[str], Any], name: str) -> Callable[[bytes], Any]:
        path = str(folder / name)

        def written_and_read(raw: bytes) -> Any:
            with open(path, "wb", buffering=0) as file:
                file.write(raw)
            return read(path)

        return written_and_read

    def npz_changed(rng: random.Random, raw: bytes) -> bytes:
        return zip_changed(rng, raw, npy_changed)

    return [
        Kind("npz", 70, npz_seeds(), npz_changed, from_file(from_npz, "net.npz")),
        Kind("safetensors", 70, safetensors_seeds(), safetensors_changed, from_file(from_safetensors, "n.safetensors")),
    ]
