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
<h2>The numbers</h2>
<p>$hidden</p>
$table
</section>
$notes<section id="promises">
<h2>What is promised</h2>
$promise
$others</section>
<section id="more">
<h2>For whoever wants to know more</h2>
<details id="not-promised"><summary>What is not promised</summary>
$not_promised
</details>
<details id="assumptions"><summary>What is taken for granted</summary>
$assumptions
</details>
<details id="check"><summary>How to check it</summary>
$check
</details>
</section>
</main>
<footer>Made by $software.</footer>"""
)
