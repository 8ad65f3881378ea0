"""The studio: a page on your own machine that does what the commands do, for people who do not live in a terminal.

::

    server      binds to this machine alone and hands out a link that opens once
    guard       who may connect: the right address, the right origin, the right browser; and what a page may do
    app_state   what all pages share: the folder, the ledger, the work under way, answers that were worked out
    folder      which files a form may name
    work/       one release at a time, in a process of its own, which can be stopped
    background  a process that computes slow previews
    forms/      what a form asks for, and its live preview
    pages/      publish, check, plan, vote, ledger and series: one module for each

All state is in the ledger and in files; a page has none. The studio asks the library and no command.
"""
