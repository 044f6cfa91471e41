"""`against_share`: a group's number among the selected, against its share of a population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fourfifths._results import Result
from fourfifths._stats.proportions import at_most_as_likely, binomial
from fourfifths._text import number, p_value
from fourfifths.errors import OptionError


@dataclass(frozen=True, kw_only=True, repr=False)
class ShareTest(Result):
    """A group's number among the selected, compared with its share of an outside population.

    Attributes
    ----------
    observed, n : int
        How many of the selected belong to the group, and how many were selected.
    share : float
        The group's share of the population.
    expected : float
        `n` times the share.
    shortfall : float
        `expected` minus the observed number.
    standard_deviations : float
        The binomial z: (observed - expected) / sqrt(n share (1 - share)).
    p : float
        Two-sided exact binomial p-value.
    """

    _schema: ClassVar[str | None] = "fourfifths/share/1"

    observed: int
    n: int
    share: float
    expected: float
    shortfall: float
    standard_deviations: float
    p: float

    def __str__(self) -> str:
        return "\n".join(
            (
                f"{self.observed:,} of the {self.n:,} selected are of the group, "
                f"{self.observed / self.n:.1%}; its share of the population is {self.share:.1%}.",
                f"Expected {number(self.expected, 2)}, shortfall {number(self.shortfall, 2)}: "
                f"{number(self.standard_deviations, 2)} standard deviations (binomial), exact "
                f"two-sided p {p_value(self.p)}.",
                "Courts have called more than two or three standard deviations hard to explain by "
                "chance (Castaneda v. Partida, 430 U.S. 482, n. 17; Hazelwood, 433 U.S. 299, "
                "n. 14).",
            )
        )


def against_share(observed: int, n: int, *, share: float) -> ShareTest:
    """Compare a group's number among the selected with its share of an outside population.

    As in Castaneda v. Partida, 430 U.S. 482 (1977), note 17: of 870 persons summoned as grand
    jurors 339 were Mexican-American, in a county where 79.1% of the population was.

    Parameters
    ----------
    observed, n : int
        How many of the selected belong to the group, and how many were selected.
    share : float
        The group's share of the population, in (0, 1).

    Examples
    --------
    >>> castaneda = against_share(339, 870, share=0.791)
    >>> round(castaneda.expected, 2), round(castaneda.standard_deviations, 2)
    (688.17, -29.11)
    """
    if not 0 < share < 1:
        raise OptionError(f"share={share!r}: expected a share between 0 and 1, neither included")
    if not 0 <= observed <= n or n < 1:
        raise OptionError(f"observed={observed!r}, n={n!r}: expected 0 <= observed <= n and n >= 1")
    # Binomial: the population is so large that each one summoned leaves its shares unchanged.
    expected = n * share
    deviation = (n * share * (1 - share)) ** 0.5
    first, probability = binomial(n, share)
    return ShareTest(
        observed=observed,
        n=n,
        share=share,
        expected=expected,
        shortfall=expected - observed,
        standard_deviations=(observed - expected) / deviation,
        p=at_most_as_likely(probability, observed - first)[0],
    )
