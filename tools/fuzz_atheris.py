"""The parsers under coverage-guided fuzzing: texts that reach new lines of their code are kept and changed further.

    python tools/fuzz_atheris.py [--seconds 300] [--only formula]        needs: pip install atheris

In this process, without files: formulas, expressions, relations, networks, set documents, and the JSON text layer. The
first input whose outcome is not documented (another exception, a long message, more than 5 seconds) is written to a
file crash-... in this folder, with its traceback; exit 77. Atheris has no wheels for every Python, so that it is no
dependency; tools/fuzz.py needs nothing.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

KINDS = ("formula", "expression", "relation", "network", "set", "json")


def main() -> int:
    """Fuzz until the time has passed, or a fault was found."""
    parser = argparse.ArgumentParser(description="Coverage-guided fuzzing of the parsers.")
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=KINDS)
    given = parser.parse_args()
    try:
        import atheris
    except ImportError:
        print("atheris is not installed: pip install atheris (it has wheels for some versions of Python only)")
        return 2
    with atheris.instrument_imports(include=["semialg_fibers"]):
        import fuzz
        import fuzz_text

        from semialg_fibers.exchange.json_values import parse_json
    folder = Path(tempfile.mkdtemp(prefix="atheris-"))
    readers = {**fuzz_text.readers(folder), "json": parse_json}
    valid = fuzz_text.seeds()
    valid["json"] = ['{"a": [1, -2.5e3, "x\\u00e9", null, true, {}]}', *valid["network"]]
    kinds = [given.only] if given.only else list(KINDS)
    for at, kind in enumerate(kinds):
        for number, text in enumerate(valid[kind]):
            (folder / f"{kind}-{number}").write_bytes(bytes([at]) + text.encode())

    def read(data: bytes) -> None:
        if not data:
            return
        text = data[1:].decode(errors="replace")
        found = fuzz.outcome(readers[kinds[data[0] % len(kinds)]], text)
        if found.startswith("FAULT"):
            raise RuntimeError(f"{kinds[data[0] % len(kinds)]}: {found}\n{text[:2000]!r}")

    def changed(data: bytes, most: int, seed: int) -> bytes:
        """Change the text as tools/fuzz.py does, or let libFuzzer do it."""
        rng = random.Random(seed)
        if not data or rng.random() < 0.5:
            return bytes(atheris.Mutate(data, most))
        text = fuzz_text.mutated(rng, data[1:].decode(errors="replace"))
        return (data[:1] + text.encode(errors="replace"))[:most]

    options = [f"-max_total_time={given.seconds}", f"-seed={given.seed}", "-timeout=5", "-rss_limit_mb=2048"]
    atheris.Setup([sys.argv[0], *options, "-max_len=20000", "-print_final_stats=1", str(folder)], read,
                  custom_mutator=changed)  # fmt: skip
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
