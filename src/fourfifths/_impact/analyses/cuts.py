"""`cuts`: the impact ratio at every cut of a score, where it crosses four fifths, score bands."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, cast

import numpy as np

from fourfifths._arrays import BoolArray, FloatArray, IntArray
from fourfifths._impact.analyses.counted import (
    NOT_SELECTED_CODE,
    SELECTED_CODE,
    check_persons,
    counted_impact,
)
from fourfifths._impact.analyses.score_counts import ScoreCounts, count_scores
from fourfifths._impact.compare import reference_candidates
from fourfifths._impact.impact import get_rule
from fourfifths._impact.profiles import DEFAULT_RULE, RuleName
from fourfifths._impact.result import Impact
from fourfifths._impact.rules import Rule
from fourfifths._results import Record, Result, attribute_or_group, entry_of
from fourfifths._stats.cuts import rate_margin, ratio_band, runs
from fourfifths._stats.proportions import divide, ratio_interval
from fourfifths._tables.counts import MISSING
from fourfifths._tables.groups import (
    Attribute,
    Roles,
    Tally,
    assign_roles,
    attributes,
    check_share,
    choose_reference,
    is_share,
)
from fourfifths._tables.table import TableLike, open_table
from fourfifths._text import number_text, rows_have
from fourfifths.errors import GroupError, OptionError

Lower = Literal["group", "reference"]
# Beyond this the products of counts that are compared with the threshold would be rounded.
MAX_DENOMINATOR = 1000


@dataclass(frozen=True, kw_only=True)
class CutRange:
    """A run of neighbouring cuts at which a ratio is below the threshold.

    Attributes
    ----------
    first, last : float
        The most lenient cut of the run, and the strictest.
    cuts : int
        How many cuts were tried from the one to the other.
    lower : {"group", "reference"}
        Whose rate is the lower one. It can be the reference's if that was designated, or if the
        group with the highest rate is too small to be the reference.
    smallest : float
        The smallest ratio of the lower rate to the higher one in the run.
    """

    first: float
    last: float
    cuts: int
    lower: Lower
    smallest: float


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupCuts:
    """One group at every cut.

    Attributes
    ----------
    group : str
    n, unscored : int
        Persons with a score, and without.
    selected : int array
        How many the cut selects.
    selection_rate, impact_ratio : float array
    impact_ratio_low, impact_ratio_high : float array
        The score interval at each cut: for a cut that was fixed before the data were seen.
    band_low, band_high : float array
        The simultaneous band: it holds at all cuts and for all groups together, so also for a cut
        that was chosen because of the data.
    below : tuple of CutRange
        Where the ratio is below the threshold.
    surely_below : tuple of CutRange
        Where the whole simultaneous band is below it.
    in_band : tuple of int
        Persons in each score band.
    """

    group: str
    n: int
    unscored: int
    selected: IntArray
    selection_rate: FloatArray
    impact_ratio: FloatArray
    impact_ratio_low: FloatArray
    impact_ratio_high: FloatArray
    band_low: FloatArray
    band_high: FloatArray
    below: tuple[CutRange, ...]
    surely_below: tuple[CutRange, ...]
    in_band: tuple[int, ...]

    @property
    def band_rates(self) -> tuple[float, ...]:
        """The share of the group's scores that lie in each score band."""
        return tuple(persons / self.n for persons in self.in_band)

    def to_dict(self) -> dict[str, Any]:
        """Return the group, ready for JSON: one list per figure, one entry per cut."""
        return {
            "group": self.group,
            "n": self.n,
            "unscored": self.unscored,
            "selected": self.selected.tolist(),
            **{name: _list(getattr(self, name)) for name in CUT_FIGURES},
            "below": [vars(run) for run in self.below],
            "surely_below": [vars(run) for run in self.surely_below],
            "in_band": list(self.in_band),
            "band_rates": list(self.band_rates),
        }


CUT_FIGURES = (
    "selection_rate",
    "impact_ratio",
    "impact_ratio_low",
    "impact_ratio_high",
    "band_low",
    "band_high",
)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AttributeCuts(Result):
    """One protected column, or several jointly, at every cut.

    Attributes
    ----------
    name : str
    protected : tuple of str
    reference : str or None
        The designated reference. None: at each cut the group with the highest rate.
    references : tuple of str
        The reference at each cut.
    unknown : int
        Persons with a score whose membership is not known.
    groups : tuple of GroupCuts
    """

    name: str
    protected: tuple[str, ...]
    reference: str | None
    references: tuple[str, ...]
    unknown: int
    groups: tuple[GroupCuts, ...]

    def __getitem__(self, group: object) -> GroupCuts:
        """Return a group by its name."""
        return entry_of({entry.group: entry for entry in self.groups}, group, "group")

    def to_dict(self) -> dict[str, Any]:
        """Return the attribute, ready for JSON."""
        return {
            "protected": list(self.protected),
            "reference": self.reference,
            "references": list(self.references),
            "unknown": self.unknown,
            "groups": [group.to_dict() for group in self.groups],
        }


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Cuts(Result):
    """The impact ratio at every cut of a score.

    Attributes
    ----------
    rule : Rule
        By which the chosen cut is judged, and which says what the reference is.
    table, score : str
    lower_is_better : bool
        Whether a cut selects the scores at or below it, and not those at or above it.
    rows, unscored : int
        Persons with a score, and without.
    threshold : float
    confidence : float
        Of the intervals and of the simultaneous band.
    cuts : float array
        From the most lenient, which selects everyone, to the strictest.
    selected : int array
        How many persons each cut selects, those of unknown membership included.
    cuts_are : {"every score", "levels"}
        Whether every score is a cut, or about a thousand scores with about as many rows between
        them.
    band_edges : tuple of float
        Where the score bands meet; a score at an edge belongs to the band above it.
    attributes : tuple of AttributeCuts
        Each protected column alone, then every two jointly, then all of them jointly.
    chosen_cut : float
        The cut that selects the number or share that was asked for, or comes nearest to it; NaN if
        none was.
    at_chosen_cut : Impact or None
        What `impact` says of the selection that it makes.
    notes : tuple of str
    """

    _schema: ClassVar[str | None] = "fourfifths/cuts/1"

    rule: Rule
    table: str
    score: str
    lower_is_better: bool
    rows: int
    unscored: int
    threshold: float
    confidence: float
    cuts: FloatArray
    selected: IntArray
    cuts_are: Literal["every score", "levels"]
    band_edges: tuple[float, ...]
    attributes: tuple[AttributeCuts, ...]
    chosen_cut: float
    at_chosen_cut: Impact | None
    notes: tuple[str, ...]

    def __iter__(self) -> Iterator[AttributeCuts]:
        return iter(self.attributes)

    def __getitem__(self, key: object) -> Any:
        """Return a protected attribute by name or, if there is only one, a group of it."""
        return attribute_or_group(self.attributes, key)

    @property
    def sign(self) -> str:
        """How a selected score is compared with the cut."""
        return "<=" if self.lower_is_better else ">="

    @property
    def band_labels(self) -> tuple[str, ...]:
        """The names of the score bands, rising."""
        if not self.band_edges:
            return ()
        texts = [number_text(edge) for edge in self.band_edges]
        return (
            f"under {texts[0]}",
            *(f"{low} to under {high}" for low, high in pairwise(texts)),
            f"{texts[-1]} and over",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON; docs/schema/cuts.schema.json describes it."""
        return {
            "schema": self._schema,
            "rule": self.rule.name,
            "rule_profile": self.rule.to_dict(),
            "table": self.table,
            "score": self.score,
            "lower_is_better": self.lower_is_better,
            "rows": self.rows,
            "unscored": self.unscored,
            "threshold": self.threshold,
            "confidence": self.confidence,
            "cuts_are": self.cuts_are,
            "cuts": self.cuts.tolist(),
            "selected": self.selected.tolist(),
            "band_edges": list(self.band_edges),
            "bands": list(self.band_labels),
            "attributes": [attribute.to_dict() for attribute in self.attributes],
            "chosen_cut": None if math.isnan(self.chosen_cut) else self.chosen_cut,
            "at_chosen_cut": self.at_chosen_cut and self.at_chosen_cut.to_dict(),
            "notes": list(self.notes),
        }

    def to_records(self) -> list[Record]:
        """Return one flat record per attribute, cut and group."""
        records: list[Record] = []
        for attribute in self.attributes:
            figures = [
                [_list(getattr(group, name)) for name in CUT_FIGURES] for group in attribute.groups
            ]
            for index, cut in enumerate(self.cuts.tolist()):
                for group, columns in zip(attribute.groups, figures, strict=True):
                    records.append(
                        {
                            "protected": attribute.name,
                            "cut": cut,
                            "group": group.group,
                            "reference": attribute.references[index],
                            "n": group.n,
                            "selected": int(group.selected[index]),
                            **{
                                name: column[index]
                                for name, column in zip(CUT_FIGURES, columns, strict=True)
                            },
                        }
                    )
        return records


def cuts(
    table: TableLike,
    *,
    score: str,
    protected: str | Sequence[str] | None = None,
    lower_is_better: bool = False,
    select: float | None = None,
    score_bands: int | Sequence[float] | None = None,
    reference: Any = None,
    rule: RuleName | Rule = DEFAULT_RULE,
    threshold: float = 0.8,
    persons: str | None = None,
    bands: Mapping[str, Sequence[float]] | None = None,
    ages: Mapping[str, date | str] | None = None,
    unknown: str | Sequence[Any] = (),
    confidence: float = 0.95,
) -> Cuts:
    """Measure the impact ratio at every possible cut of a score.

    A cut selects everyone whose score is at or above it (with `lower_is_better`, at or below).

    Parameters
    ----------
    table : dataframe, path, str or Dataset
        As for `impact`.
    score : str
        A column of numbers. Rows without a score are left out and counted.
    protected : str or sequence of str
        The protected columns. Several are measured each alone, every two jointly, and all jointly.
    lower_is_better : bool
        Whether low scores are selected.
    select : float, optional
        How many are to be selected: a share below 1, or a whole number of persons. The cut that
        comes nearest to it is judged by the rule.
    score_bands : int or sequence of float, optional
        Score bands: how many, with about as many persons in each, or the scores where they meet.
    reference : value or mapping of column to value, optional
        The reference at every cut. Without it, a rule that compares with the highest rate takes, at
        each cut, the group that has it there, and any other rule raises an error.
    rule : str or Rule
        Which group is the reference, and what is made of the chosen cut.
    threshold : float
        The ratio of the lower rate to the higher one that is looked for.
    persons : str, optional
        For an aggregated table: the column that says how many persons a row stands for.
    bands, ages, unknown, confidence
        As for `impact`; `bands` cuts protected columns.

    Returns
    -------
    Cuts
        With one protected column `result[group]` is the `GroupCuts` of a group.

    Notes
    -----
    The interval at a cut is the score interval (Koopman; Miettinen and Nurminen), without the exact
    one that `impact` may take for few rows. It holds for a cut that was fixed in advance. The
    simultaneous band holds for all cuts, groups and references at once (Dvoretzky, Kiefer and
    Wolfowitz), so also for the cut that looks best; it is wider.

    A score with more than about 25,000 distinct values is cut at about a thousand of them, with
    about as many rows between one and the next. The counts at these cuts are exact.

    Examples
    --------
    >>> import fourfifths
    >>> ricci = fourfifths.cuts("ricci", score="combined", select=0.2)
    >>> [(run.first, run.last) for run in ricci["B"].below]
    [(56.632, 56.632), (57.168, 57.968), (59.132, 92.808)]
    >>> ricci.chosen_cut, ricci.at_chosen_cut["B"].selected
    (76.6, 1)
    """
    profile = get_rule(rule)
    threshold = check_share("threshold", threshold, "(0, 1]")
    confidence = check_share("confidence", confidence, "[0.5, 1)")
    check_select(select)
    edges = check_score_bands(score_bands)

    opened = open_table(table).without_empty_rows()
    check_persons(opened, persons, protected=protected)
    roles = assign_roles(
        opened,
        protected=protected,
        outcome=None,
        favorable=None,
        reference=reference,
        weights=persons,
        score=score,
        bands=bands,
        ages=ages,
        unknown=unknown,
        outcome_is="the score",
    )
    scored = count_scores(opened, score, roles=roles, edges=edges)

    counts, levels = scored.counts, scored.counts.codes[score]
    has_score = levels != MISSING
    persons_per_level = sums(levels[has_score], counts.rows[has_score], scored.lowest.size)
    selected = beyond_cut(persons_per_level, lower_is_better=lower_is_better)
    cut_scores = scored.highest[::-1] if lower_is_better else scored.lowest
    if is_band_count(score_bands):
        edges = equal_band_edges(
            scored.lowest, persons_per_level, band_count=int(cast(int, score_bands))
        )
    measured = tuple(
        measure_cuts(
            attribute,
            scored,
            score=score,
            cuts=cut_scores,
            roles=roles,
            rule=profile,
            lower_is_better=lower_is_better,
            edges=edges,
            threshold=threshold,
            confidence=confidence,
        )
        for attribute in attributes(counts, roles.protected)
    )
    chosen_cut, at_chosen_cut = math.nan, None
    if select is not None:
        index = nearest_cut(selected, select)
        chosen_cut = float(cut_scores[index])
        is_selected = (
            scored.highest[levels] <= chosen_cut
            if lower_is_better
            else scored.lowest[levels] >= chosen_cut
        )
        outcome = np.where(is_selected, SELECTED_CODE, NOT_SELECTED_CODE)
        sign = "<=" if lower_is_better else ">="
        at_chosen_cut = counted_impact(
            counts,
            np.where(has_score, outcome, MISSING),
            names=(f"{score} {sign} {number_text(chosen_cut)}", "yes", "no"),
            table=opened,
            roles=roles,
            rule=profile,
            confidence=confidence,
        )

    row_count = int(persons_per_level.sum())
    result = Cuts(
        rule=profile,
        table=opened.name,
        score=score,
        lower_is_better=lower_is_better,
        rows=row_count,
        unscored=int(counts.rows.sum()) - row_count,
        threshold=float(threshold),
        confidence=confidence,
        cuts=cut_scores,
        selected=selected.astype(np.int64),
        cuts_are="every score" if scored.is_every_score else "levels",
        band_edges=edges,
        attributes=measured,
        chosen_cut=chosen_cut,
        at_chosen_cut=at_chosen_cut,
        notes=(),
    )
    return replace(result, notes=(*counts.notes, *cut_notes(result, select)))


def check_select(select: float | None) -> None:
    """Raise if the number to select is neither a share nor a whole number of persons."""
    if select is None:
        return
    is_persons = is_share(select, "(0, inf)") and select >= 1 and float(select).is_integer()
    if not is_share(select, "(0, 1)") and not is_persons:
        raise OptionError(
            f"select={select!r}: expected a share between 0 and 1, or a whole number of persons"
        )


def is_band_count(score_bands: Any) -> bool:
    """Return whether a number of score bands was named, and not their edges."""
    is_whole = isinstance(score_bands, Integral) and not isinstance(score_bands, bool)
    return is_whole and score_bands >= 2


def check_score_bands(score_bands: int | Sequence[float] | None) -> tuple[float, ...]:
    """Return the edges of score bands that were named; none where their number was."""
    if score_bands is None:
        return ()
    if is_band_count(score_bands):
        return ()
    if not isinstance(score_bands, Real | str):
        edges = tuple(float(edge) for edge in cast(Sequence[float], score_bands))
        if edges and edges == tuple(sorted(set(edges))) and np.all(np.isfinite(edges)):
            return edges
    raise OptionError(
        f"score_bands={score_bands!r}: expected a number of bands, 2 or more, or the scores where "
        "they meet, each larger than the one before"
    )


def sums(codes: IntArray, persons: FloatArray, code_count: int) -> FloatArray:
    """Return the number of persons of each code."""
    # The numbers of nobody are whole numbers in NumPy; they are floats here, like the others.
    return np.bincount(codes, weights=persons, minlength=code_count).astype(np.float64)


def beyond_cut(per_level: FloatArray, *, lower_is_better: bool) -> FloatArray:
    """Return how many persons each cut selects, from the most lenient cut to the strictest.

    Parameters
    ----------
    per_level : float array
        Persons in each level of the score, rising, along the last axis.
    lower_is_better : bool
    """
    best_first = per_level if lower_is_better else per_level[..., ::-1]
    return np.cumsum(best_first, axis=-1)[..., ::-1]


def equal_band_edges(
    lowest: FloatArray, per_level: FloatArray, *, band_count: int
) -> tuple[float, ...]:
    """Return the scores where bands meet that hold about as many persons each.

    Equal scores are in one band. So where many are equal there are fewer bands.
    """
    below = np.concatenate([[0.0], np.cumsum(per_level)[:-1]])
    shares = np.arange(1, band_count) / band_count
    starts = np.abs(below[:, None] - shares * per_level.sum()).argmin(axis=0)
    return tuple(float(lowest[start]) for start in np.unique(starts) if start > 0)


def nearest_cut(selected: FloatArray, select: float) -> int:
    """Return the index of the cut that selects the nearest number; of two, the stricter one."""
    target = select * selected[0] if select < 1 else select
    if target > selected[0]:
        raise OptionError(
            f"select={select!r}: only {int(selected[0]):,} rows have a score; expected at most "
            "that many"
        )
    distance = np.abs(selected - target)
    return int(np.flatnonzero(distance == distance.min())[-1])


def measure_cuts(
    attribute: Attribute,
    scored: ScoreCounts,
    *,
    score: str,
    cuts: FloatArray,
    roles: Roles,
    rule: Rule,
    lower_is_better: bool,
    edges: Sequence[float],
    threshold: float,
    confidence: float,
) -> AttributeCuts:
    """Compare the groups of one attribute at every cut."""
    counts, level_count = scored.counts, scored.lowest.size
    levels = counts.codes[score]

    group_count = len(attribute.groups)
    is_member, is_scored = attribute.codes != MISSING, levels != MISSING
    cells = is_member & is_scored
    persons = sums(
        attribute.codes[cells] * level_count + levels[cells],
        counts.rows[cells],
        group_count * level_count,
    ).reshape(group_count, level_count)
    cells = is_member & ~is_scored
    unscored = sums(attribute.codes[cells], counts.rows[cells], group_count)
    has_scores = persons.sum(axis=1) > 0
    if has_scores.sum() < 2:
        raise GroupError(
            f"protected={attribute.name!r}: fewer than two groups have scores; expected at least "
            "two"
        )
    unknown = int(counts.rows[~is_member & is_scored].sum())
    attribute = attribute.keep(has_scores)
    persons, unscored = persons[has_scores], unscored[has_scores]

    selected = beyond_cut(persons, lower_is_better=lower_is_better)
    n = persons.sum(axis=1)
    rates = selected / n[:, None]
    designated, references = choose_references(attribute, n, rates, roles=roles, rule=rule)
    columns = np.arange(cuts.size)
    x_reference, n_reference = selected[references, columns], n[references]
    is_reference = references == np.arange(n.size)[:, None]

    # As products of counts, so that 3/5 against 6/8 is exactly four fifths.
    crossed, crossed_reference = selected * n_reference, x_reference * n[:, None]
    line = Fraction(str(threshold)).limit_denominator(MAX_DENOMINATOR)
    is_below = line.denominator * np.minimum(
        crossed, crossed_reference
    ) < line.numerator * np.maximum(crossed, crossed_reference)
    ratio = divide(crossed, crossed_reference)
    low, high = ratio_interval(
        selected, n[:, None], x_reference, n_reference, confidence=confidence
    )
    margin = rate_margin(n, confidence=confidence)
    band_low, band_high = ratio_band(
        rates,
        rates[references, columns],
        margin=margin[:, None],
        margin_reference=margin[references],
    )
    low, high, band_low, band_high = (
        np.where(is_reference, np.nan, limits) for limits in (low, high, band_low, band_high)
    )
    # Of the band, the ratio the other way round has the limits 1 / high and 1 / low.
    is_surely_lower = {"group": band_high < float(line), "reference": band_low > 1 / float(line)}
    is_lower = {
        "group": is_below & (crossed < crossed_reference),
        "reference": is_below & (crossed > crossed_reference),
    }
    smallest = np.where(crossed < crossed_reference, ratio, divide(crossed_reference, crossed))

    def ranges(marks: Mapping[str, BoolArray], group: int) -> tuple[CutRange, ...]:
        return tuple(
            CutRange(
                first=float(cuts[start]),
                last=float(cuts[end]),
                cuts=end - start + 1,
                lower=side,
                smallest=float(smallest[group, start : end + 1].min()),
            )
            for side in ("group", "reference")
            for start, end in runs(marks[side][group])
        )

    band_of_level = np.searchsorted(edges, scored.lowest, side="right")
    return AttributeCuts(
        name=attribute.name,
        protected=attribute.protected,
        reference=None if designated is None else attribute.labels[designated],
        references=tuple(attribute.labels[reference] for reference in references),
        unknown=unknown,
        groups=tuple(
            GroupCuts(
                group=label,
                n=int(n[group]),
                unscored=int(unscored[group]),
                selected=selected[group].astype(np.int64),
                selection_rate=rates[group],
                impact_ratio=ratio[group],
                impact_ratio_low=low[group],
                impact_ratio_high=high[group],
                band_low=band_low[group],
                band_high=band_high[group],
                below=ranges(is_lower, group),
                surely_below=ranges(is_surely_lower, group),
                in_band=tuple(
                    sums(band_of_level, persons[group], len(edges) + 1).astype(np.int64).tolist()
                )
                if edges
                else (),
            )
            for group, label in enumerate(attribute.labels)
        ),
    )


def choose_references(
    attribute: Attribute, n: FloatArray, rates: FloatArray, *, roles: Roles, rule: Rule
) -> tuple[int | None, IntArray]:
    """Return the designated reference, if there is one, and the reference at each cut.

    As for `impact`, a very small group is not chosen by its rate (`reference_candidates`).
    """
    takes_highest = rule.reference == "highest"
    designated = roles.reference if takes_highest else roles.designated
    if takes_highest and not all(column in designated for column in attribute.protected):
        # Who is a candidate depends on the sizes alone, which are the same at every cut.
        sizes = Tally(rows=n, rows_selected=n, weight=n, weight_selected=n, effective=n)
        candidates = reference_candidates(sizes, rule)
        # Of equal rates the first in the order of the groups.
        return None, np.argmax(np.where(candidates[:, None], rates, -1.0), axis=0)
    reference = choose_reference(
        attribute.protected,
        attribute.groups,
        designated=designated,
        reason=f"rule {rule.name!r} compares with a designated group",
    )
    return reference, np.full(rates.shape[1], reference)


def cut_notes(result: Cuts, select: float | None) -> Iterator[str]:
    """Yield what a reader must know about the scores, the cuts and the intervals."""
    if result.unscored:
        rows = rows_have(result.unscored)
        without = ", ".join(
            f"{group.group} {group.unscored:,}"
            for group in result.attributes[0].groups
            if group.unscored
        )
        yield f"{rows} no {result.score} and could not be counted" + (
            f" ({without})" if without else ""
        )
    for attribute in result.attributes:
        if attribute.unknown:
            rows = rows_have(attribute.unknown)
            yield f"{rows} a score but no known {attribute.name}, and belong to no group"
    if result.cuts_are == "levels":
        yield (
            f"{result.score} has very many values; {result.cuts.size:,} of them are cuts, with "
            "about as many rows between one and the next; the counts at these cuts are exact"
        )
    if result.attributes[0].reference is None:
        yield (
            "at each cut the reference is the group with the highest rate there; name a group with "
            "reference= to compare with the same one at all cuts"
        )
    if select is not None:
        index = int(np.flatnonzero(result.cuts == result.chosen_cut)[0])
        chosen = int(result.selected[index])
        asked = f"{select:.1%}" if select < 1 else f"{int(select):,}"
        yield (
            f"{asked} were to be selected; {result.score} {result.sign} "
            f"{number_text(result.chosen_cut)} selects {chosen:,}, {chosen / result.rows:.1%} of "
            "those with a score, which comes nearest"
        )
    yield (
        "the interval at a cut holds for a cut that was fixed before the scores were seen; for one "
        "chosen because of them take the simultaneous band"
    )


def _list(figures: FloatArray) -> list[float | None]:
    return [None if math.isnan(figure) else figure for figure in figures.tolist()]
