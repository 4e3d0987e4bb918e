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
import zipfile
import zlib

from semialg_fibers.errors import InvalidNetworkError, UnsupportedError
from semialg_fibers.exchange.files import MAX_MODEL_BYTES, refuse_packing
from semialg_fibers.geometry.scalar import shown

OBJECTS = (
    "the file holds Python objects besides tensors, which are not loaded because loading them runs code; save the "
    "state dict instead: torch.save(model.state_dict(), path)"
)
STORAGES = ("Float", "Double", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool")
KNOWN = {f"torch {kind}Storage" for kind in STORAGES} | {
    "collections OrderedDict",
    "collections Counter",
    "collections defaultdict",
    "torch._utils _rebuild_tensor_v2",
    "torch._utils _rebuild_parameter",
    "torch.nn.parameter Parameter",
    "torch Size",
    "torch device",
    "_codecs encode",
}
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
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive, zipfile.ZipFile(packed, "w") as again:
            if sum(member.file_size for member in archive.infolist()) > MAX_MODEL_BYTES:
                raise InvalidNetworkError(f"unpacked, it has more than the stated size of {MAX_MODEL_BYTES:,} bytes")
            for member in archive.infolist():
                refuse_packing(member)
                if member.filename in names:
                    raise InvalidNetworkError(f"the member {shown(member.filename)} stands there twice")
                names.add(member.filename)
                with archive.open(member) as stream:
                    data = stream.read(member.file_size + 1)
                if member.filename.endswith(".pkl"):
                    _judge(io.BytesIO(data))
                again.writestr(zipfile.ZipInfo(member.filename), data)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError) as error:
        raise InvalidNetworkError(f"this is no readable PyTorch file ({shown(str(error))})") from None
    return packed.getvalue()


def _judge(stream: io.BytesIO) -> None:
    """Read one pickle, its instructions only; leave the stream behind it."""
    try:
        for opcode, argument, _ in pickletools.genops(stream):
            if opcode.name in OPCODES or (opcode.name == "GLOBAL" and argument not in KNOWN):
                raise UnsupportedError(OBJECTS, value=str(argument))
    except ValueError:
        raise InvalidNetworkError("this is no readable PyTorch file (a damaged pickle)") from None
