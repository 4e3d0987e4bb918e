"""The command line: one subcommand per question.

Data go to stdout, messages to stderr. Exit: 0 done, 2 refused (one sentence says why), 130 and 143 interrupted.
"""

from __future__ import annotations

import json
import signal
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import click

from semialg_fibers import gallery
from semialg_fibers.errors import BudgetExceededError, CertificateRejected, SemialgError
from semialg_fibers.exchange.files import write_network, write_text
from semialg_fibers.terminal import (
    PREFIX,
    Terminated,
    chosen_form,
    emit,
    enumerating,
    forget_output,
    in_commands,
    load,
    of_kind,
    refuse,
    refuse_starvation,
    runner,
    steady_output,
    terminate,
    watched,
)
from semialg_fibers.verify.effort import BUDGET

KINDS = ["arrangement", "symmetry", "fiber", "components", "laws"]
FORMATS = ["text", "latex", "json", "smtlib", "singular", "macaulay2", "sage", "mathematica"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="semialg-fibers")
def cli() -> None:
    """All parameters of a ReLU network that compute the same function, exactly.

    NET is the path of a network file, or gallery:NAME.
    """


@cli.command()
@click.argument("net")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def describe(net: str, as_json: bool) -> None:
    """Types, hidden hyperplanes, genericity, identifiability, dimensions, number of components."""
    from semialg_fibers.questions.summary import summary

    told = summary(load(net))
    if as_json:
        click.echo(json.dumps(in_commands(told.to_json()), indent=1, ensure_ascii=False))
    else:
        click.echo(in_commands("\n".join(_told(told))))


def _told(told: Any) -> Iterator[str]:
    net = told.network

    def shown(value: Any, name: str) -> str:
        return f"not decided: {told.open.get(name, 'no theorem applies')}" if value is None else str(value)

    yield f"{net}, {net.parameter_count} parameters"
    if told.refusal is not None:
        yield f"{'the fiber is not decided' if told.undecided else 'outside the theorem'}: {told.refusal}"
    if told.types is not None:
        yield f"types: {_counted(told.types)}"
    else:
        yield f"types: {shown(None, 'second_layer')}"
    hidden = None if told.hidden is None else (_from_one(told.hidden) or "none")
    if len(net.layers) > 2:
        yield f"hidden hyperplanes of the first layer: {shown(hidden, 'hidden')}"
        flips = [] if told.flippable is None else [_from_one(told.flippable), told.open.get("flippable")]
        if any(flips):
            yield f"hyperplanes that can be flipped: {'; '.join(filter(None, flips))}"
    yield f"generic: {_verdict(told.generic)}"
    for condition in told.conditions:
        yield f"  {condition}"
    yield f"identifiable: {_verdict(told.identifiability.is_identifiable)}"
    for reason in told.identifiability.reasons:
        yield f"  {reason}"
    if told.identifiability.undecided:
        yield f"  {told.identifiability.undecided}"
    if told.refusal is None:
        yield f"components of the fiber: {shown(told.components, 'components')}"
        yield f"dimension of the fiber: {shown(told.dimension, 'dimension')}"
        yield f"dimension at this network: {shown(told.local_dimension, 'local_dimension')}"
    if told.upper_bound is not None:
        yield f"dimension at this network: at most {told.upper_bound} (kernel of the Jacobian)"
    yield f"functional dimension: {shown(told.functional, 'functional_dimension')}"


def _verdict(value: bool | None) -> str:
    return {True: "yes", False: "no", None: "not decided"}[value]


def _from_one(indices: tuple[int, ...]) -> str:
    return ", ".join(str(i + 1) for i in indices)


def _counted(types: tuple[str, ...]) -> str:
    if len(types) <= 12:
        return ", ".join(types)
    return ", ".join(f"{types.count(kind)} {kind}" for kind in ("nonlinear", "linear", "dead") if kind in types)


@cli.command()
@click.argument("net")
@click.option("--format", "form", type=click.Choice(FORMATS), help="By FILE's ending, or text.")
@click.option("--component", type=int, help="Only the component with this number, from 0.")
@click.option("-o", "--output", metavar="FILE", help="Write to this file instead of stdout.")
def fiber(net: str, form: str | None, component: int | None, output: str | None) -> None:
    """The fiber: every component with its equations, inequalities and dimension."""
    from semialg_fibers.exchange.exporters import BY_SUFFIX, WRITERS
    from semialg_fibers.fibers.bottleneck import fiber as fiber_of

    write = WRITERS[chosen_form(form, output, BY_SUFFIX)]
    emit(write(fiber_of(load(net)), component), output)


@cli.command()
@click.argument("net")
@enumerating
def dimension(net: str, workers: int | None, dask: str | None, checkpoint: str | None) -> None:
    """Local and largest dimension of the fiber, and the functional dimension.

    With one of the options the functional dimension is computed from the activation cells, in chunks.
    """
    from semialg_fibers.questions.dimension import functional_dimension
    from semialg_fibers.questions.summary import summary

    network = load(net)
    chunked = (workers, dask, checkpoint) != (None, None, None)
    if chunked:
        with runner("cells", workers, dask, checkpoint) as work:
            functional = functional_dimension(network, runner=work)
    told = summary(network)
    if chunked:
        told.functional = functional
        told.open.pop("functional_dimension", None)
    for name, value in (("local", told.local_dimension), ("largest", told.dimension), ("functional", told.functional)):
        click.echo(f"{name} dimension: {'not decided' if value is None else value}")
    if told.upper_bound is not None:
        click.echo(f"local dimension at most {told.upper_bound} (kernel of the Jacobian)")
    names = ("dimension", "local_dimension", "functional_dimension")
    for reason in filter(None, [told.refusal, *(told.open.get(name) for name in names)]):
        click.echo(in_commands(reason), err=True)


@cli.command()
@click.argument("net")
@enumerating
def count(net: str, workers: int | None, dask: str | None, checkpoint: str | None) -> None:
    """The number of components of the fiber up to relabelling, exactly."""
    from semialg_fibers.questions.component_count import count_components

    with runner("choices of sides", workers, dask, checkpoint) as work:
        click.echo(str(count_components(load(net), work)))


@cli.command()
@click.argument("widths", nargs=4, type=int, metavar="D N1 N2 M")
@click.option(
    "--format", "form", type=click.Choice(["text", "csv", "latex", "json"]), help="By FILE's ending, or text."
)
@click.option("-o", "--output", metavar="FILE", help="Write to this file instead of stdout.")
@enumerating
def atlas(
    widths: tuple[int, int, int, int],
    form: str | None,
    output: str | None,
    workers: int | None,
    dask: str | None,
    checkpoint: str | None,
) -> None:
    """Every sign pattern of an architecture up to relabelling: types, dimension, components, exact fractions."""
    from semialg_fibers.exchange.atlas_tables import BY_SUFFIX, WRITERS
    from semialg_fibers.questions.atlas import atlas as atlas_of

    write = WRITERS[chosen_form(form, output, BY_SUFFIX)]
    with runner("patterns", workers, dask, checkpoint) as work:
        found = atlas_of(*widths, runner=work)
    emit(write(found), output)


@cli.command()
@click.argument("net")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
@click.option("--latex", "as_latex", is_flag=True, help="The independent laws in LaTeX.")
def laws(net: str, as_json: bool, as_latex: bool) -> None:
    """What gradient flow conserves: the laws, their number, and what proves it."""
    from semialg_fibers.questions.conservation import conservation_laws

    if as_json and as_latex:
        raise click.UsageError("--json and --latex exclude each other.")
    found = conservation_laws(load(net))
    if as_json:
        click.echo(json.dumps(found.to_json(), indent=1, ensure_ascii=False))
    else:
        click.echo(found.to_latex() if as_latex else found.explain())


@cli.command()
@click.argument("net")
@click.option("-o", "--output", metavar="FILE", required=True, help="The picture: .png, .svg or .pdf.")
@click.option("--kind", type=click.Choice(KINDS), default="arrangement", show_default=True)
@click.option("--window", metavar="A,B,C,D", help="[A, B] × [C, D] instead of a window around the vertices.")
@click.option("--component", type=int, help="Only the component with this number, from 0 (fiber, symmetry).")
@click.option("--coordinates", metavar="P,Q[,R]", help="Two or three parameters, such as b1_0,b2_0 (fiber).")
@click.option("--free", metavar="S[,S]", help="Symbols of the parametrization that run, such as t,lambda_0 (fiber).")
def plot(net: str, output: str, kind: str, **options: Any) -> None:
    """A picture: the arrangement, a symmetry, the fiber in coordinates, the component graph, laws along descent.

    More than two inputs are cut by the plane through 0 along the first two independent rows of A1.
    """
    from semialg_fibers.plots.canvas import FORMATS, save
    from semialg_fibers.plots.pictures import picture_of

    of_kind(output, "a picture", [f".{form}" for form in FORMATS])
    save(picture_of(load(net), kind, **options), output)


@cli.command()
@click.argument("net")
@click.option("-o", "--output", metavar="FILE", required=True, help="The page, an .html file.")
def report(net: str, output: str) -> None:
    """A page: verdicts with reasons, equations, dimensions, pictures, certificates. It needs no network connection."""
    from semialg_fibers.report.page import report_html

    of_kind(output, "a page", [".html", ".htm"])
    write_text(report_html(load(net)), output)


@cli.command()
@click.argument("a")
@click.argument("b")
@click.option("--method", type=click.Choice(["auto", "canonical", "exact"]), default="auto", show_default=True)
@click.option(
    "--cells", type=click.IntRange(0), default=20_000, show_default=True, help="The most activation cells to look at."
)
@click.option("--seconds", type=float, help="The most time to spend on cells; none unless given.")
@click.option("--json", "as_json", is_flag=True, help="A certificate file, for the command check.")
def same(a: str, b: str, method: str, cells: int, seconds: float | None, as_json: bool) -> int:
    """Do A and B compute the same function? Exit 0 same, 1 different, 3 undecided."""
    from semialg_fibers.exchange.certificates import certificate_to_json
    from semialg_fibers.questions.equivalence import Undecided, same_function

    with watched("cells") as watch:
        answer = same_function(load(a), load(b), method, cells, watch, seconds)
    if isinstance(answer, Undecided):
        reason = in_commands(answer.reason)
        document = json.dumps({"claim": "undecided", "reason": reason}, ensure_ascii=False)
        click.echo(document if as_json else f"undecided: {reason}")
        return 3
    if as_json:
        click.echo(certificate_to_json(answer.a, answer.b, answer.certificate), nl=False)
    else:
        click.echo("\n".join(_answered(answer)))
    return 0 if answer.same else 1


def _answered(answer: Any) -> Iterator[str]:
    if not answer.same:
        left, right = answer.values
        yield "different functions"
        point, first, second = (f"({', '.join(map(str, row))})" for row in (answer.witness, left, right))
        yield f"at {point}: {first} and {second}"
        return
    yield f"same function, proved by {answer.certificate.kind}"
    pairing = answer.matching
    if pairing is not None:
        yield from (f"  {line}" for line in pairing.sentences())


@cli.command()
@click.argument("certificate", type=click.Path())
@click.option("--budget", type=click.IntRange(0), default=BUDGET, show_default=True, help="The most multiplications.")
def check(certificate: str, budget: int) -> int:
    """Re-check a certificate file by code that shares nothing with what made it.

    Exit 0 verified, 1 rejected, 3 not re-proved within the budget.
    """
    from semialg_fibers.exchange.certificates import read_certificate

    stored = read_certificate(certificate)
    try:
        stored.check(budget)
    except CertificateRejected as error:
        click.echo(f"rejected: {error.message}")
        return 1
    except BudgetExceededError as error:
        click.echo(in_commands(error.message))
        return 3
    click.echo(f"verified: {stored.claim}")
    return 0


@cli.command()
@click.argument("name")
@click.option("--latex", is_flag=True, help="LaTeX (amsmath) instead of text.")
@click.option("--json", "as_json", is_flag=True, help="A file with the proof, for the command check.")
def prove(name: str, latex: bool, as_json: bool) -> None:
    """A theorem with its proof, every step checked. NAME: permutation_symmetry, positive_scaling, sign_flip, ..."""
    from semialg_fibers.verify.theorems import theorem

    if as_json and latex:
        raise click.UsageError("--json and --latex exclude each other.")
    derivation = theorem(name)
    gap = derivation.gap()
    if gap is not None:
        raise CertificateRejected(f"the proof of {name} has a gap at {gap}")
    if as_json or latex:
        click.echo(derivation.to_json() if as_json else derivation.to_latex(), nl=False)
    else:
        click.echo(f"{derivation.to_text()}\nverified: all {len(derivation.steps)} steps follow")


@cli.command()
@click.argument("model", type=click.Path())
@click.option("-o", "--output", metavar="NET.json", required=True, help="The network file to write.")
@click.option("--order", help="The names of the layers, in order, with commas between them (for state dicts).")
@click.option("--root-bits", type=int, help="Round irrational roots of a batch norm to so many significant bits.")
@click.option("--logits", is_flag=True, help="Drop a final softmax or sigmoid.")
def convert(model: str, output: str, order: str | None, root_bits: int | None, logits: bool) -> None:
    """A trained network (.pt, .pth, .onnx, .safetensors, .keras, .npz) as an exact network file."""
    from semialg_fibers.exchange.chain import ExchangeNote
    from semialg_fibers.exchange.importers import read_model

    of_kind(output, "a network file", [".json"])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        net = read_model(model, order.split(",") if order is not None else None, root_bits, logits)
    write_network(net, output)
    for note in told:
        if issubclass(note.category, ExchangeNote):
            click.echo(f"note: {in_commands(str(note.message))}", err=True)
    click.echo(f"{net}, {net.parameter_count} parameters", err=True)


@cli.command(name="gallery")
def show_gallery() -> None:
    """The small networks that come with the package."""
    for name in gallery.names():
        click.echo(f"{PREFIX}{name}  {gallery.about(name)}")


def main() -> None:
    """Run the command line and exit with the contract's codes."""
    signal.signal(signal.SIGTERM, terminate)
    refuse_starvation()
    sys.set_int_max_str_digits(0)  # 2000! has more digits than Python would print; files have a limit of their own
    steady_output()
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command; give its exit code. Every refusal is one line on stderr, never a traceback."""
    try:
        code = cli.main(arguments, prog_name="semialg-fibers", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except SemialgError as error:
        return refuse(error.message)
    except click.ClickException as error:
        if not arguments:  # nothing was asked: click's message is the help
            error.show()
            return 2
        context = getattr(error, "ctx", None)
        hint = f"Try '{context.command_path} --help'." if context else ""
        return refuse(f"{error.format_message()} {hint}")
    except (KeyboardInterrupt, click.Abort):
        return 130
    except Terminated:
        return 143
    except (BrokenPipeError, SystemExit):  # click turns a broken pipe into SystemExit
        forget_output()  # the reader has gone: nothing more to say to it
        return 0
    except (MemoryError, RecursionError) as error:
        return refuse(f"the input is too large for this machine ({type(error).__name__})")
    except UnicodeError:  # a path with half of a surrogate pair, which click asks the system about
        return refuse("an argument holds characters that are no text")
    except OSError as error:
        forget_output()
        return refuse(f"the output cannot be written ({error.strerror or error})")


if __name__ == "__main__":
    main()
