"""`Cuts` as a page: the ratios at a choice of cuts, where they cross the line, score bands."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from fourfifths._arrays import IntArray
from fourfifths._impact.analyses.cuts import MAX_DENOMINATOR, AttributeCuts, CutRange, Cuts
from fourfifths._report.document import Document, Section, Sentence, Sheet, to_document
from fourfifths._report.impact import (
    checklist_sections,
    finding_sentences,
    rates_sheet,
    rule_line,
    rule_paragraphs,
)
from fourfifths._text import interval, number, number_text

MAX_CUTS_SHOWN = 50
MAX_RANGES_SHOWN = 5
CLOSING = (
    "The table shows a choice of cuts, with about as many persons between one and the next; JSON "
    "and CSV have all of them, with the intervals and the simultaneous band. It shows what a cut "
    "does to the rates, not whether the score is related to the job. Not legal advice."
)


@to_document.register
def cuts_document(result: Cuts) -> Document:
    """Return the page of the cuts of a score."""
    return Document(
        headline=(
            f"{result.table}: {result.score} {result.sign} cut, {result.cuts.size:,} cuts, "
            f"{result.rows:,} rows with a score"
        ),
        sections=(
            *(attribute_section(result, attribute) for attribute in result.attributes),
            *checklist_sections(result.rule),
        ),
        notes=result.notes,
        details=rule_paragraphs(result.rule),
        closing=(rule_line(result.rule), CLOSING),
    )


@to_document.register
def attribute_document(attribute: AttributeCuts) -> Document:
    """Return the page of one attribute: at which cuts each group is below the line."""
    reference = attribute.reference or "the highest rate at each cut"
    cut_count = len(attribute.references)
    sentences = [
        Sentence(
            text=f"{group.group}: below the line at {sum(run.cuts for run in group.below):,} of "
            f"{cut_count:,} cuts: {in_words(group.below)}."
            if group.below
            else f"{group.group}: at no cut below the line.",
            is_marked=bool(group.surely_below),
        )
        for group in attribute.groups
        if group.group != attribute.reference
    ]
    return Document(
        headline=f"{attribute.name}: {cut_count:,} cuts, compared with {reference}",
        sections=(Section(sentences=tuple(sentences)),),
    )


def attribute_section(result: Cuts, attribute: AttributeCuts) -> Section:
    """Return one attribute: its ratios, its score bands, the chosen cut, and what crosses."""
    sheets = [cuts_sheet(result, attribute)]
    if result.band_edges:
        sheets.append(bands_sheet(result, attribute))
    sentences = crossing_sentences(result, attribute)
    if result.at_chosen_cut is not None:
        chosen = result.at_chosen_cut[attribute.name]
        title = f"{result.score} {result.sign} {number_text(result.chosen_cut)}"
        sheet = rates_sheet(chosen)
        sheets.append(replace(sheet, title=f"the chosen cut, {title}; {sheet.title}"))
        sentences += [
            replace(sentence, text=f"{title}: {sentence.text}")
            for sentence in finding_sentences(chosen.groups)
        ]
    return Section(sheets=tuple(sheets), sentences=tuple(sentences))


def shown_cuts(selected: IntArray, limit: int = MAX_CUTS_SHOWN) -> IntArray:
    """Return the indices of at most `limit` cuts, evenly spread over the persons selected.

    The first and the last are always among them.

    Examples
    --------
    >>> shown_cuts(np.array([100, 99, 98, 51, 50, 1]), limit=3).tolist()
    [0, 3, 5]
    """
    if selected.size <= limit:
        return np.arange(selected.size)
    targets = np.linspace(selected[0], selected[-1], limit)
    indices = np.abs(selected[:, None] - targets).argmin(axis=0)
    return np.unique(np.concatenate([[0], indices[1:-1], [selected.size - 1]]))


def cuts_sheet(result: Cuts, attribute: AttributeCuts) -> Sheet:
    """Return the impact ratio and its interval at a choice of cuts."""
    percent = f"{100 * result.confidence:g}%"
    compared = [group for group in attribute.groups if group.group != attribute.reference]
    rows = []
    for index in shown_cuts(result.selected):
        cells = [
            number_text(float(result.cuts[index])),
            f"{result.selected[index]:,}",
            number(float(result.selected[index] / result.rows)),
        ]
        for group in compared:
            ratio = float(group.impact_ratio[index])
            limits = float(group.impact_ratio_low[index]), float(group.impact_ratio_high[index])
            is_reference = group.group == attribute.references[index]
            text = number(ratio) if math.isnan(ratio) else f"{number(ratio)} ({interval(limits)})"
            cells.append("reference" if is_reference else text)
        rows.append(tuple(cells))
    reference = attribute.reference or "the highest rate at each cut"
    return Sheet(
        title=f"{attribute.name}: impact ratio ({percent}) at each cut, compared with {reference}",
        headers=(result.sign, "selected", "share", *(group.group for group in compared)),
        rows=tuple(rows),
    )


def bands_sheet(result: Cuts, attribute: AttributeCuts) -> Sheet:
    """Return each group's share of scores in each score band, the best band first."""
    order = range(len(result.band_labels))
    best_first = order if result.lower_is_better else order[::-1]
    return Sheet(
        title=f"{attribute.name}: share of each group's scores in each band",
        headers=("band", *(head for group in attribute.groups for head in (group.group, "n"))),
        rows=tuple(
            (
                result.band_labels[band],
                *(
                    cell
                    for group in attribute.groups
                    for cell in (number(group.band_rates[band]), f"{group.in_band[band]:,}")
                ),
            )
            for band in best_first
        ),
    )


def crossing_sentences(result: Cuts, attribute: AttributeCuts) -> list[Sentence]:
    """Say for each group at which cuts its ratio is below the threshold."""
    line = str(Fraction(str(result.threshold)).limit_denominator(MAX_DENOMINATOR))
    sentences = []
    for group in attribute.groups:
        if group.group == attribute.reference:
            continue
        if not group.below:
            sentences.append(Sentence(text=f"{group.group}: at no cut below {line}."))
            continue
        below = sum(run.cuts for run in group.below)
        text = (
            f"{group.group}: below {line} at {below:,} of {result.cuts.size:,} cuts: "
            f"{in_words(group.below)}"
        )
        if group.surely_below:
            text += (
                f"; the {100 * result.confidence:g}% band that holds for all cuts together lies "
                f"wholly below it at {in_words(group.surely_below)}"
            )
        sentences.append(Sentence(text=f"{text}.", is_marked=bool(group.surely_below)))
    return sentences


def in_words(ranges: tuple[CutRange, ...]) -> str:
    """Return the ranges of cuts, the longest first where they are too many to list."""
    longest = sorted(ranges, key=lambda run: -run.cuts)[:MAX_RANGES_SHOWN]
    texts = []
    for run in ranges:
        if run in longest:
            first, last = number_text(run.first), number_text(run.last)
            side = "" if run.lower == "group" else ", where the reference is lower"
            texts.append((first if first == last else f"{first} to {last}") + side)
    rest = len(ranges) - len(longest)
    noun = "range" if rest == 1 else "ranges"
    return ", ".join(texts) + (f", and {rest} shorter {noun}" if rest > 0 else "")
