"""Target in, parameters out: which designs reach a promise, and how exact they are for data of a stated shape.

:func:`release` plans a whole release, :func:`ask` works out one number, :func:`noises` compares both noises,
:func:`sums` says how far a total will be off, :func:`refinements` says which parts of a cube survive and :func:`coarsenings` which records do; ``hubbub plan`` prints
them, and ``hubbub series plan`` what :func:`series` compares. ``shape`` says how many people each bin
holds, ``error`` how far a published number lies from the truth, ``targets`` which crowds, rates and losses reach a
promise, and ``designs`` puts them together. Nothing is read but public counts and tables that the user supplies.

>>> from hubbub import plan
>>> plan.ask("k", "zero-knowledge", epsilon="0.5", delta="1e-9", rate="0.1").k
17
"""

from hubbub.plan.coarsening import Coarsening as Coarsening
from hubbub.plan.coarsening import Coarsenings as Coarsenings
from hubbub.plan.coarsening import coarsenings as coarsenings
from hubbub.plan.designs import Design as Design
from hubbub.plan.noise_comparison import Noises as Noises
from hubbub.plan.noise_comparison import noises as noises
from hubbub.plan.planned import Planned as Planned
from hubbub.plan.planned import release as release
from hubbub.plan.refinements import Refinement as Refinement
from hubbub.plan.refinements import Refinements as Refinements
from hubbub.plan.refinements import refinements as refinements
from hubbub.plan.series import SeriesPlan as SeriesPlan
from hubbub.plan.series import series as series
from hubbub.plan.shape import facts as facts
from hubbub.plan.sums import PlannedSums as PlannedSums
from hubbub.plan.sums import sums as sums
from hubbub.plan.targets import Number as Number
from hubbub.plan.targets import ask as ask
