"""Assertions for other people's test suites; a failure shows the witness.

Main definitions
    assert_same_function    two networks are the same function, proved and checked
    assert_in_fiber         a network lies in a fiber
    assert_proved           a derivation proves its claim

References: theory §1, §4, §8.
"""

from __future__ import annotations

from semialg_fibers.fibers.bottleneck import Fiber
from semialg_fibers.networks.layer import Network
from semialg_fibers.questions.equivalence import Different, Undecided, same_function
from semialg_fibers.verify.derivation import Derivation


def assert_same_function(a: Network, b: Network) -> None:
    """Assert f_a = f_b on the whole domain; the certificate is checked by independent code.

    Raises:
        AssertionError: with a point at which the functions differ and both values, or with the reason why the question
            was not decided. Undecided is a failure.

    >>> net = Network([([[1], [-1]], [0, 0]), ([[1, -1]], [0])])
    >>> assert_same_function(net, Network([([[1]], [0])]))
    """
    __tracebackhide__ = True
    answer = same_function(a, b)
    if isinstance(answer, Undecided):
        raise AssertionError(f"not decided whether the functions are the same: {answer.reason}")
    if isinstance(answer, Different):
        left, right = answer.values
        raise AssertionError(f"the functions differ at {answer.witness}: {left} and {right}")
    if not answer.check():
        raise AssertionError(f"the certificate of equality ({answer.certificate.kind}) was rejected")


def assert_in_fiber(net: Network, fiber: Fiber) -> None:
    """Assert that the network lies in one of the components of the fiber, under any labelling.

    Raises:
        AssertionError: with a point at which the functions differ, if they do; otherwise the network has the function
            but lies in no component, which happens for members that are not generic.

    >>> from semialg_fibers import fiber
    >>> net = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])])
    >>> assert_in_fiber(net.permuted(1, [1, 0]), fiber(net))
    """
    __tracebackhide__ = True
    if fiber.contains(net):
        return
    if net.widths != fiber.network.widths or net.domain != fiber.network.domain:
        raise AssertionError(
            f"the {net} is no member of a fiber of the {fiber.network}: other widths or another domain"
        )
    assert_same_function(fiber.network, net)
    raise AssertionError("the network has the function, but lies in no component of the fiber (is it generic?)")


def assert_proved(derivation: Derivation) -> None:
    """Assert that every step of a derivation follows by its rule and that the claim is among what is proved.

    Raises:
        AssertionError: with the label of the first step that does not follow, and the reason.

    >>> from semialg_fibers.verify.theorems import sign_flip
    >>> assert_proved(sign_flip())
    """
    __tracebackhide__ = True
    gap = derivation.gap()
    if gap is not None:
        raise AssertionError(f"{derivation.claim.title}: {gap}")
