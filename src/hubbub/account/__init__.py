"""The theorems as a calculator: what follows from what, ours and the papers'. No data is read.

Every function returns a frozen answer with its numbers, `as_json()` and `sentences()`; numbers are certified and
rounded up. ``hubbub account`` prints them.

>>> from hubbub import account
>>> account.crowd(k=20, rate="0.1").ask(delta="1e-6").sentences()[0][:60]
'Promised to everybody in the population: (0.182989, 1e-06)-z'
"""

from hubbub.account.derivations import TARGETS as TARGETS
from hubbub.account.derivations import Composed as Composed
from hubbub.account.derivations import Converted as Converted
from hubbub.account.derivations import Grouped as Grouped
from hubbub.account.derivations import compose as compose
from hubbub.account.derivations import convert as convert
from hubbub.account.derivations import group as group
from hubbub.account.derivations import read_promise as read_promise
from hubbub.account.sample_complexity import Converse as Converse
from hubbub.account.sample_complexity import NoisyFunction as NoisyFunction
from hubbub.account.sample_complexity import NoisyMean as NoisyMean
from hubbub.account.sample_complexity import SampleAndSanitize as SampleAndSanitize
from hubbub.account.sample_complexity import SampledHistogram as SampledHistogram
from hubbub.account.sample_complexity import converse as converse
from hubbub.account.sample_complexity import histogram as histogram
from hubbub.account.sample_complexity import mean as mean
from hubbub.account.sample_complexity import noise as noise
from hubbub.account.sample_complexity import sanitize as sanitize
from hubbub.account.tradeoff import MECHANISMS as MECHANISMS
from hubbub.account.tradeoff import Point as Point
from hubbub.account.tradeoff import Tradeoff as Tradeoff
from hubbub.account.tradeoff import crowd as crowd
from hubbub.account.tradeoff import distributional as distributional
from hubbub.account.tradeoff import lecture as lecture
from hubbub.account.tradeoff import robust as robust
