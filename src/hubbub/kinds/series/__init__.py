"""Series: the same numbers every month, week or day, with their running totals, under one promise that is charged once.

A series is declared whole before its first period (`spec`): what is counted, the calendar, in how many periods a person
counts, and how it is drawn. Every period is a release of its own, whose files hold all periods so far.
"""
