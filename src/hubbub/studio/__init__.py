"""The studio: a page on your own machine that does what the commands do, for people who do not live in a terminal.

::

    server    binds to this machine alone and hands out a link that opens once
    guard     who may speak: the right address, the right origin, the right browser; and what a page may do
    folder    which files may be named
    desk      what the pages share: the folder, the ledger, the work under way, answers that were worked out
    worker    one release at a time, in a process of its own, which can be stopped
    publish, check, plan, vote, ledger   the five places

All state is in the ledger and in files; a page has none. The studio asks the library and no command.
"""
