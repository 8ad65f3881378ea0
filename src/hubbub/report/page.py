"""The page of a release: its parts, in order."""

from __future__ import annotations

from string import Template
from typing import Final

BODY: Final = Template(
    """<main>
<header>
<h1>$title</h1>
<p class="lead">$summary</p>
$facts
<nav aria-label="On this page"><a href="#numbers">The numbers</a> <a href="#promises">What is promised</a>
<a href="#assumptions">What is assumed</a> <a href="#not-promised">What is not promised</a>
<a href="#check">How to check it</a></nav>
</header>
$picture
<section id="hidden">
<h2>What was hidden</h2>
<p>$hidden</p>
</section>
<section id="numbers">
<h2>The numbers</h2>
$table
</section>
<section id="promises">
<h2>What is promised</h2>
$promises</section>
<section id="assumptions">
<h2>What is assumed</h2>
$assumptions
</section>
<section id="not-promised">
<h2>What is not promised</h2>
$not_promised
</section>
<section id="check">
<h2>How to check it</h2>
$check
</section>
</main>
<footer>Made by $software.</footer>"""
)
