"""Series: the same numbers of T periods, drawn one period after the other under one promise, with their running totals.

``blocks`` has geometric noise on increments and on blocks of them, ``factor`` Gaussian noise on a factor of the running
sums; ``choice`` finds the best of each from public numbers. A way is a frozen value: what is drawn in each period, what
one person loses by all of it, and the exact variance of every total, increment and difference.
"""
