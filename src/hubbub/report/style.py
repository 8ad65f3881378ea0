"""How pages look: the style that reports, results and the studio share."""

from __future__ import annotations

from typing import Final

from hubbub.charts.style import STYLE as CHART_STYLE
from hubbub.charts.style import TOKENS

_STYLE: Final = """
:root { color: var(--ink); background: var(--paper);
  font: 17px/1.55 Charter, "Bitstream Charter", Georgia, Cambria, serif; }
body { margin: 0; }
main, footer { max-width: 52rem; margin: 0 auto; padding: 0 1.2rem; }
h1, h2, h3, nav, figcaption, table, dt, summary, footer, small, .claim {
  font-family: Helvetica, Arial, sans-serif; }
h1 { font-size: 2rem; line-height: 1.2; margin: 2.4rem 0 .6rem; text-wrap: balance; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 .6rem; }
h3 { font-size: 1.05rem; margin: 0 0 .4rem; }
small { font-size: .8rem; font-weight: 400; color: var(--quiet); margin-left: .4rem; }
p { margin: .5rem 0; }
.top { margin: 1.2rem 0; border-left: 4px solid var(--bar); padding-left: 1rem; }
.top dt { font-size: .8rem; font-weight: 400; color: var(--quiet); margin: .7rem 0 0; }
.top div:first-child dt { margin-top: 0; }
.top dd { font-size: 1.05rem; margin: 0; }
.notes { font-size: .85rem; color: var(--soft); }
details { margin: .6rem 0; }
#more details { border-top: 1px solid var(--grid); padding-top: .5rem; }
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
i.point { background: var(--series-0); border-radius: 50%; width: .7rem; height: .7rem; }
i.series { background: var(--series-0); height: 3px; vertical-align: middle; }
i.band { background: var(--series-0); opacity: .3; }
i.tick { background: var(--ink); width: 2px; height: .9rem; margin: 0 .5rem 0 .3rem; vertical-align: middle; }
i.line { background: var(--ink); height: 2px; vertical-align: middle; }
i.arrow { background: var(--ink); width: .6rem; clip-path: polygon(0 0, 100% 50%, 0 100%); }
i.gap { background: var(--gap); border: 1px dashed var(--quiet); }
table { border-collapse: collapse; width: 100%; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .28rem .8rem; border-bottom: 1px solid var(--grid); vertical-align: top; }
th:first-child, td:first-child { padding-left: 0; }
th { text-align: left; font-weight: 400; overflow-wrap: anywhere; }
td, thead th.number { min-width: 0; }
td { white-space: nowrap; }
thead th { font-weight: 600; border-bottom: 1px solid var(--rule); vertical-align: bottom; }
thead th.number { text-align: right; }
thead th:not(.number) { min-width: 6em; }
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
table.cards thead { position: absolute; clip-path: inset(50%); }
table.cards tr { display: flex; flex-wrap: wrap; gap: .1rem 1rem; padding: .5rem 0; border-bottom: 1px solid var(--grid); }
table.cards th, table.cards td { border: 0; padding: 0; text-align: left; white-space: normal; overflow-wrap: anywhere; }
table.cards tbody th { font-weight: 600; }
table.cards td::before { content: attr(data-label) " "; color: var(--quiet); }
@media screen and (max-width: 640px) {
  figure:has(.narrow:not(.heat)) .of-colours { display: none; }
  h1 { font-size: 1.6rem; margin-top: 1.4rem; }
  #numbers thead { position: absolute; clip-path: inset(50%); }
  #numbers tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--grid); }
  #numbers th, #numbers td { border: 0; padding: 0; text-align: left; white-space: normal; }
  #numbers tbody th { display: inline; font-weight: 600; }
  #numbers tbody th + th::before { content: " · "; font-weight: 400; color: var(--quiet); }
  #numbers td { display: flex; justify-content: space-between; gap: 1rem; text-align: right; }
  #numbers td:empty { display: none; }
  #numbers td::before { content: attr(data-label) " "; color: var(--quiet); text-align: left; }
}
.printed { display: none; }
@media print {
  :root { font-size: 10pt; line-height: 1.4; }
  body { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  main, footer { max-width: none; }
  h1 { margin-top: 0; font-size: 20pt; }
  h2 { margin: .8rem 0 .2rem; }
  figure, article { margin: .6rem 0; }
  .top, .facts { margin: .6rem 0; }
  .top dt { margin-top: .4rem; }
  .top dd { font-size: 1rem; }
  th, td { padding-top: .16rem; padding-bottom: .16rem; }
  footer { break-before: avoid; margin-top: 0; padding-bottom: 0; }
  #more { display: none; }
  figure, tr, .claim, li, .top div { break-inside: avoid; }
  h2, h3, dt { break-after: avoid; }
  p, dd, pre { orphans: 3; widows: 3; }
  .chart { max-height: 11cm; }
  .chart.upright { max-height: 5.8cm; }
  .chart.narrow { display: none; }
  a { color: inherit; text-decoration: none; }
  details, .on-screen { display: none; }
  .printed { display: block; }
}
@supports selector(::details-content) {
  @media print {
    details.short { display: block; }
    details.short > summary, .printed.short { display: none; }
    details.short::details-content { content-visibility: visible; display: block; height: auto; }
    .listed:has(> details.short) { display: table; width: 100%; }
    .listed > table, .listed > details.short, .listed > details.short > table { display: contents; }
    .listed > details.short::details-content { display: contents; }
    .listed > details.short thead { display: none; }
  }
}
"""

STYLE: Final = TOKENS + _STYLE + CHART_STYLE
