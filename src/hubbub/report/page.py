"""The page of a release: its parts, in order."""

from __future__ import annotations

from string import Template
from typing import Final

BODY: Final = Template(
    """<main>
<header>
<h1>$title</h1>
$subtitle$facts
$summary
</header>
$picture
<section id="numbers">
<h2>$numbers_title</h2>
<p>$hidden</p>
$table
</section>
$notes<section id="promises">
<h2>$promised_title</h2>
$promise
$others</section>
<section id="more">
<h2>$more_title</h2>
<details id="not-promised"><summary>$not_promised_title</summary>
$not_promised
</details>
<details id="assumptions"><summary>$assumptions_title</summary>
$assumptions
</details>
<details id="check"><summary>$check_title</summary>
$check
</details>
</section>
</main>
<footer>$made_by</footer>"""
)
