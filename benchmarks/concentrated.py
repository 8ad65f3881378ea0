"""zCDP and Gaussian noise by another accountant: prints the numbers that tests/unit/guarantees/accountant/test_concentrated.py keeps.

Run it where benchmarks/composition-peers.txt is installed: ``python -m benchmarks.concentrated``. The peer's numbers are
floats: of a discrete Gaussian by its privacy loss distribution, of rho by its Renyi accountant.
"""

from __future__ import annotations

CASES = ((1, 100, 1), (20, 100, 1), (5, 50, 3))
"""How many releases, the variance, and how many numbers one person moves by 1."""
DELTAS = (1e-6, 1e-9)


def main() -> None:
    """Print epsilon at each delta: by the exact law of discrete Gaussian noise, and by rho."""
    from dp_accounting.pld import privacy_loss_distribution as pld
    from dp_accounting.rdp import rdp_privacy_accountant as rdp

    orders = [1 + x / 100 for x in range(1, 20000)]
    for times, variance, moved in CASES:
        law = pld.from_discrete_gaussian_mechanism(
            sigma=variance**0.5, sensitivity=1, value_discretization_interval=1e-4
        ).self_compose(times * moved)
        rho = times * moved / (2 * variance)
        for delta in DELTAS:
            by_rho = rdp.compute_epsilon(orders, [a * rho for a in orders], delta)[0]
            print(times, variance, moved, delta, f"{law.get_epsilon_for_delta(delta):.6f}", f"{by_rho:.6f}")


if __name__ == "__main__":
    main()
