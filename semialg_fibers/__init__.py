"""semialg_fibers: which other parameters give this ReLU network's function?

The answer is the fiber, an explicit union of semi-algebraic sets, computed exactly.

>>> from semialg_fibers import Network, fiber
>>> net = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])])
>>> fiber(net).dimension
4
"""

from semialg_fibers import gallery
from semialg_fibers.errors import (
    BudgetExceededError,
    CertificateRejected,
    InexactInputError,
    InvalidNetworkError,
    NotGenericError,
    SemialgError,
    UndecidedSignError,
    UnsupportedError,
)
from semialg_fibers.exchange.arrays import from_arrays, from_npz, from_safetensors
from semialg_fibers.exchange.atlas_tables import atlas_to_csv, atlas_to_json, atlas_to_latex, atlas_to_text
from semialg_fibers.exchange.chain import ExchangeNote
from semialg_fibers.exchange.exporters import (
    from_json,
    to_json,
    to_latex,
    to_macaulay2,
    to_mathematica,
    to_sage,
    to_singular,
    to_smtlib,
    to_text,
)
from semialg_fibers.exchange.files import read_network, write_network
from semialg_fibers.exchange.keras_models import from_keras
from semialg_fibers.exchange.onnx_models import from_onnx, to_onnx
from semialg_fibers.exchange.sklearn_models import from_sklearn
from semialg_fibers.exchange.tables import dimension_table
from semialg_fibers.exchange.torch_models import from_torch, to_torch
from semialg_fibers.fibers.bottleneck import Fiber, fiber
from semialg_fibers.fibers.complete import CompleteFiber, complete_fiber
from semialg_fibers.fibers.component import FiberComponent
from semialg_fibers.fibers.genericity import Genericity, genericity
from semialg_fibers.fibers.hiding import flip, hidden_hyperplanes, sign_flip_group, translate, translation_range
from semialg_fibers.fibers.sound_symmetry import Symmetry
from semialg_fibers.fibers.symmetries import symmetries
from semialg_fibers.fibers.visibility import bending_hyperplanes
from semialg_fibers.geometry.cone import nonnegative_column_rank
from semialg_fibers.geometry.domain import Box, Orthant, Space
from semialg_fibers.geometry.enumeration import Runner
from semialg_fibers.geometry.executors import dask_cluster, process_pool
from semialg_fibers.geometry.polyhedron import Polyhedron
from semialg_fibers.geometry.semialgebraic import BasicSet, SemialgebraicSet
from semialg_fibers.networks.cells import cells
from semialg_fibers.networks.layer import Layer, Network
from semialg_fibers.networks.neuron_kind import neuron_types
from semialg_fibers.plots.components import plot_components, plot_fiber
from semialg_fibers.plots.planar import plot_arrangement, plot_symmetry
from semialg_fibers.plots.run import plot_laws
from semialg_fibers.questions.activations import Pointwise
from semialg_fibers.questions.alignment import align
from semialg_fibers.questions.architecture_laws import ArchitectureLaws, architecture_laws
from semialg_fibers.questions.atlas import Atlas, AtlasRow, atlas
from semialg_fibers.questions.bias_free import bias_free_dimension
from semialg_fibers.questions.cell_count import cell_count, cell_patterns
from semialg_fibers.questions.closures import closures_meet
from semialg_fibers.questions.component_count import count_components
from semialg_fibers.questions.conservation import ConservationLaws, conservation_laws
from semialg_fibers.questions.dimension import functional_dimension
from semialg_fibers.questions.equivalence import Different, Same, Undecided, same_function
from semialg_fibers.questions.equivariance import is_permutation_equivariant
from semialg_fibers.questions.explanation import Explanation, explain_dimension
from semialg_fibers.questions.gradient_steps import drift, gradient_step
from semialg_fibers.questions.identifiability import Identifiability, identifiability
from semialg_fibers.questions.initialisation import Initialisation, identifiability_probability
from semialg_fibers.questions.matching import canonical_form, match_units
from semialg_fibers.questions.relabelling import averaging, distant_twin, relabelling_count, unit_correlations
from semialg_fibers.questions.sound_fiber import SoundFiber, sound_fiber
from semialg_fibers.questions.summary import summary
from semialg_fibers.report.page import report_html

__all__ = [
    "Layer",
    "Network",
    "Space",
    "Orthant",
    "Box",
    "Polyhedron",
    "read_network",
    "write_network",
    "from_arrays",
    "from_npz",
    "from_safetensors",
    "from_torch",
    "from_onnx",
    "from_sklearn",
    "from_keras",
    "to_torch",
    "to_onnx",
    "ExchangeNote",
    "gallery",
    "summary",
    "neuron_types",
    "hidden_hyperplanes",
    "bending_hyperplanes",
    "translate",
    "flip",
    "sign_flip_group",
    "translation_range",
    "genericity",
    "Genericity",
    "fiber",
    "Fiber",
    "FiberComponent",
    "complete_fiber",
    "CompleteFiber",
    "BasicSet",
    "SemialgebraicSet",
    "closures_meet",
    "symmetries",
    "Symmetry",
    "sound_fiber",
    "SoundFiber",
    "identifiability",
    "Identifiability",
    "identifiability_probability",
    "bias_free_dimension",
    "Initialisation",
    "same_function",
    "Same",
    "Different",
    "Undecided",
    "canonical_form",
    "match_units",
    "align",
    "relabelling_count",
    "is_permutation_equivariant",
    "Pointwise",
    "averaging",
    "unit_correlations",
    "distant_twin",
    "atlas",
    "Atlas",
    "AtlasRow",
    "atlas_to_text",
    "atlas_to_csv",
    "atlas_to_latex",
    "atlas_to_json",
    "count_components",
    "cell_count",
    "cell_patterns",
    "Runner",
    "process_pool",
    "dask_cluster",
    "functional_dimension",
    "explain_dimension",
    "Explanation",
    "conservation_laws",
    "ConservationLaws",
    "architecture_laws",
    "ArchitectureLaws",
    "gradient_step",
    "drift",
    "cells",
    "nonnegative_column_rank",
    "to_text",
    "to_latex",
    "to_json",
    "from_json",
    "to_smtlib",
    "to_singular",
    "to_macaulay2",
    "to_sage",
    "to_mathematica",
    "dimension_table",
    "plot_arrangement",
    "plot_symmetry",
    "plot_fiber",
    "plot_components",
    "plot_laws",
    "report_html",
    "SemialgError",
    "InvalidNetworkError",
    "InexactInputError",
    "NotGenericError",
    "UndecidedSignError",
    "UnsupportedError",
    "BudgetExceededError",
    "CertificateRejected",
]
