"""What the site has that nobody wrote: the page of commands, from what ``--help-all`` prints. And nothing from outside."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hubbub.cli import EVERYTHING
from hubbub.cli.main import commands
from website import notebooks

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

SEARCH = 'data-md-component="search" role="dialog"'
SHIM = "https://unpkg.com/iframe-worker/shim"  # what the theme would fetch so that search works without a server
OWN = "worker.js"  # and what does that here
WIDTH = 100  # of the help texts, in signs
NOT_FOUND = "<h1>404 - Not found</h1>"  # all that the theme says at a wrong address
NEXT_STEP = (
    "<h1>This page does not exist</h1>"
    '<p>It may have moved. <a href="/index.html">Begin at the first page</a>, or search above.</p>'
)


def every(command: click.Command, above: click.Context | None, name: str) -> Iterator[tuple[str, str, bool]]:
    """Each command by its whole name, with its help and whether it has commands of its own."""
    context = click.Context(command, parent=above, info_name=name, max_content_width=WIDTH, terminal_width=WIDTH)
    context.meta[EVERYTHING] = True
    yield context.command_path, command.get_help(context), isinstance(command, click.Group)
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            below = command.get_command(context, each)
            assert below is not None
            yield from every(below, context, each)


def commands_page() -> str:
    """Every command and what its ``--help`` prints, as Markdown."""
    parts = ["# Commands", "", "What `--help-all` prints, for every command. All of them take `--json`.", ""]
    for path, text, group in every(commands, None, "hubbub"):
        level = "##" if group or path.count(" ") < 2 else "###"
        parts += [f"{level} {path}", "", "```text", text.replace("```", "'''"), "```", ""]
    return "\n".join(parts)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page of commands, what was measured, and the notebooks as they run."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, "reference/commands.md", content=commands_page()))
    benchmarks = Path(config["docs_dir"]).parent / "benchmarks" / "README.md"
    files.append(File.generated(config, "benchmarks.md", content=benchmarks.read_text(encoding="utf-8")))
    for notebook in sorted((Path(config["docs_dir"]) / "notebooks").glob("*.ipynb")):
        page = f"notebooks/{notebook.stem}.md"
        files.append(File.generated(config, page, content=notebooks.as_markdown(notebook)))
    return files


def on_config(config: MkDocsConfig) -> Any:
    """The version in the footer is the package's own."""
    from hubbub import __version__

    config["copyright"] = f"Hubbub {__version__}, {config['copyright']}"
    return config


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Put our own script in the place of the one that would be fetched."""
    from mkdocs.utils import get_relative_url

    return accessible(output.replace(SHIM, get_relative_url(OWN, page.url)))


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig) -> str:
    """The same for pages that are no page, such as the one for a wrong address, which says what to do next."""
    return accessible(output_content.replace(SHIM, f"/{OWN}").replace(NOT_FOUND, NEXT_STEP))


def accessible(page: str) -> str:
    """What the theme leaves out for people who listen to a page: the search has a name, and no two lists of contents
    share one.

    >>> accessible('<nav class="md-nav" aria-label="a"><nav class="md-nav" aria-label="a">')
    '<nav class="md-nav" aria-label="a"><nav class="md-nav" aria-label="a (2)">'
    """
    met: Counter[str] = Counter()

    def named(found: re.Match[str]) -> str:
        met[found[2]] += 1
        return found[0] if met[found[2]] == 1 else f'{found[1]}{found[2]} ({met[found[2]]})"'

    page = page.replace(SEARCH, f'{SEARCH} aria-label="Search"')
    return re.sub(r'(<nav class="md-nav[^>]*aria-label=")([^"]*)"', named, page)
