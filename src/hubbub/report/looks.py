"""How pages look: the style that reports, results and the studio share."""

from __future__ import annotations

from typing import Final

from hubbub.charts.style import STYLE as CHART_STYLE
from hubbub.charts.style import TOKENS

_STYLE: Final = """
:root { color: var(--ink); background: var(--paper);
  font: 17px/1.55 Charter, "Bitstream Charter", Georgia, Cambria, serif; }
body { margin: 0; }
main, footer { max-width: 46rem; margin: 0 auto; padding: 0 1.2rem; }
h1, h2, h3, nav, figcaption, table, dt, summary, footer, small, .claim {
  font-family: Helvetica, Arial, sans-serif; }
h1 { font-size: 2rem; line-height: 1.2; margin: 2.4rem 0 .6rem; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 .6rem; }
h3 { font-size: 1.05rem; margin: 0 0 .4rem; }
small { font-size: .8rem; font-weight: 400; color: var(--quiet); margin-left: .4rem; }
p { margin: .5rem 0; }
.lead { font-size: 1.15rem; color: var(--soft); }
.facts { display: flex; flex-wrap: wrap; gap: .4rem 1.6rem; margin: 1rem 0; font-size: .9rem; }
.facts dt { font-weight: 400; font-size: .8rem; color: var(--quiet); margin: 0; }
.facts dd { overflow-wrap: anywhere; }
nav { font-size: .85rem; margin: 1rem 0; display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; }
a { color: var(--link); }
figure { margin: 1.6rem 0; }
figcaption { font-size: .85rem; color: var(--soft); margin-top: .6rem; }
figcaption i { display: inline-block; width: .9rem; height: .7rem; margin-right: .2rem; box-sizing: border-box; }
i.bar { background: var(--bar); }
i.line { background: var(--ink); height: 2px; vertical-align: middle; }
i.arrow { background: var(--ink); width: .6rem; clip-path: polygon(0 0, 100% 50%, 0 100%); }
i.gap { background: var(--gap); border: 1px dashed var(--quiet); }
.scroll { max-height: 26rem; overflow: auto; border: 1px solid var(--rule); border-radius: 4px; }
table { border-collapse: collapse; width: 100%; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .28rem .8rem; border-bottom: 1px solid var(--grid); vertical-align: top; }
th { text-align: left; font-weight: 400; overflow-wrap: anywhere; min-width: 6rem; }
td, thead th.number { white-space: nowrap; min-width: 0; }
thead th { position: sticky; top: 0; background: var(--panel); font-weight: 600; border-bottom: 1px solid var(--rule); }
thead th.number { text-align: right; }
tr.hidden td { color: var(--quiet); }
article { border-left: 4px solid var(--bar); padding: .1rem 0 .1rem 1rem; margin: 1.2rem 0; }
.claim { font-size: .85rem; color: var(--soft); }
code, pre { font-family: Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .82em; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; background: var(--panel); padding: .7rem .9rem; border-radius: 4px; line-height: 1.45; }
summary { cursor: pointer; font-size: .9rem; color: var(--link); }
dt { font-weight: 600; font-size: .9rem; margin-top: .9rem; }
dd { margin: .1rem 0 0; }
ul { margin: .3rem 0; padding-left: 1.3rem; }
li { margin: .3rem 0; }
footer { color: var(--quiet); font-size: .8rem; margin-top: 3rem; padding-bottom: 2rem; }
@media screen and (max-width: 640px) {
  th, td { padding: .28rem .45rem; }
  th { min-width: 3.4rem; }
  .scroll { max-height: 32rem; }
}
@media print {
  :root { font-size: 11pt; }
  nav { display: none; }
  .scroll { max-height: none; overflow: visible; border: 0; }
  thead th { position: static; }
  figure, tr, .claim, li { break-inside: avoid; }
  h2, h3, dt { break-after: avoid; }
  p, dd, pre { orphans: 3; widows: 3; }
  .chart { max-height: 17cm; }
  a { color: inherit; text-decoration: none; }
  details::details-content { content-visibility: visible; height: auto; }
}
"""

STYLE: Final = TOKENS + _STYLE + CHART_STYLE
