"""Target in, parameters out: which designs reach a promise, and how exact they are for data of a stated shape.

``shape`` says how many people each bin holds, ``error`` how far a published number lies from the truth, ``targets``
which crowds, rates and losses reach a promise, and ``designs`` puts them together. Nothing is read but a public
histogram that the user supplies.
"""
