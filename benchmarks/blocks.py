"""What a repair by blocks hides, keeps, proves and costs.

    python benchmarks/blocks.py            # all
    python benchmarks/blocks.py adult      # or one of: adult, tables, time

Attackers predict the group from repaired columns. They are trained on repaired rows that the repair
was not fitted to, and judged on others of them. What is kept is judged by models of the outcome
that are trained on the repaired training rows, against the parity limit: the AUC of each row's rank
of the repair's own score within its group. Prints Markdown tables for benchmarks/README.md.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import fourfifths
from fourfifths._repair.block_model import fit_rows, planning_rows
from fourfifths._repair.draws import draws_of
from fourfifths._repair.guide import Outcome, fit_trees, read_outcome
from fourfifths._tables.load import rows_of

ADULT = (
    *("age", "workclass", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "capital-gain", "capital-loss", "hours-per-week", "native-country"),
)
MAX_ATTACK_ROWS = 20_000
PANEL = ("trees", "forest", "MLP")  # on Adult, held to more than the others
HALVINGS = 3
GERMAN_SPLITS = 48  # of twelve, a mean of the BER has a standard error of .015
ROUNDS = 3


@dataclass(frozen=True, kw_only=True)
class Made:
    """A table: rows to fit a repair to, and new rows of the same law."""

    name: str
    fitted: pd.DataFrame
    new: pd.DataFrame
    columns: tuple[str, ...]
    protected: str = "group"
    outcome: str = "outcome"
    favorable: Any = 1
    key: str | None = "row"


# --- tables ---


def adult() -> Made:
    """Return Adult's training and test rows."""
    frame = fourfifths.datasets.load("adult").table.df()
    train = frame["split"] == "train"
    return Made(
        name="Adult by sex",
        fitted=frame[train].reset_index(drop=True),
        new=frame[~train].reset_index(drop=True),
        columns=ADULT,
        protected="sex",
        outcome="income",
        favorable=">50K",
        key=None,
    )


def german(seed: int) -> Made:
    """Return a split of German by age above 25; a third of the rows is kept aside."""
    shipped = fourfifths.datasets.load("german")
    frame = shipped.table.df()
    frame["group"] = np.where(frame["age"] > 25, "over 25", "25 or under")
    frame["row"] = np.arange(len(frame))
    named = {*shipped.protected, *shipped.other_protected, shipped.outcome, "group", "age", "row"}
    is_new = np.random.default_rng(seed).random(len(frame)) < 1 / 3
    return Made(
        name="German by age",
        fitted=frame[~is_new].reset_index(drop=True),
        new=frame[is_new].reset_index(drop=True),
        columns=tuple(name for name in frame.columns if name not in named),
        outcome=shipped.outcome,
        favorable=shipped.favorable,
    )


def selected(chance: Any, random: np.random.Generator) -> Any:
    """Return outcomes of a logistic model."""
    return (random.random(len(chance)) < 1 / (1 + np.exp(-chance))).astype(int)


def gaussian(row_count: int, random: np.random.Generator) -> pd.DataFrame:
    """Return 20 normal columns whose covariances differ between two groups."""
    law, width = np.random.default_rng(0), 20
    mixing = [law.normal(size=(width, width)) / np.sqrt(width) + np.eye(width) / 2 for _ in "ab"]
    means = [np.zeros(width), law.normal(size=width) * 0.3]
    weights = law.normal(size=width)
    group = (random.random(row_count) < 0.5).astype(int)
    noise = random.normal(size=(row_count, width))
    first, second = (noise @ own.T + mean for own, mean in zip(mixing, means, strict=True))
    values = np.where(group[:, None] == 1, second, first)
    chance = values @ weights / np.sqrt(width) * 1.5 + values[:, 0] * values[:, 1] / 2
    frame = pd.DataFrame(values, columns=[f"x{index}" for index in range(width)])
    return frame.assign(group=group, outcome=selected(chance + group / 2 - 0.5, random))


def mixed(row_count: int, random: np.random.Generator) -> pd.DataFrame:
    """Return numbers, whole numbers, categories and missing values that depend on the group."""
    group = (random.random(row_count) < 0.4).astype(int)
    shares = np.array([[0.3, 0.2, 0.2, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 0.2, 0.2, 0.3]])
    kind = (random.random(row_count)[:, None] > np.cumsum(shares, axis=1)[group]).sum(axis=1)
    area = random.integers(0, 40, row_count)
    frame = pd.DataFrame(
        {
            "normal": random.normal(size=row_count) + 0.6 * group,
            "skewed": np.exp(random.normal(size=row_count) + 0.3 * group),
            "count": random.poisson(3 + 2 * group),
            "kind": np.array(list("uvwxyz"))[np.minimum(kind, 5)],
            "area": np.array([f"area {index}" for index in range(40)])[area],
            "flag": random.integers(0, 2, row_count),
            "rare": np.where(
                random.random(row_count) < 0.8, 0.0, random.gamma(2, 100, size=row_count)
            ),
        }
    )
    chance = 0.8 * frame["normal"] + 0.4 * np.log(frame["skewed"]) - 0.2 * frame["count"]
    chance += np.array([0, 0.5, -0.5, 1, -1, 0.3])[np.minimum(kind, 5)] + 0.3 * np.sin(area)
    chance += 0.5 * frame["flag"] + 0.002 * frame["rare"] - 0.5
    outcome = selected(chance, random)
    for name in frame.columns:
        frame[name] = frame[name].mask(random.random(row_count) < 0.05 + 0.1 * group)
    return frame.assign(group=group, outcome=outcome)


def five_groups(row_count: int, random: np.random.Generator) -> pd.DataFrame:
    """Return 8 normal columns of five groups; one row in forty is of the smallest group."""
    law, width = np.random.default_rng(0), 8
    means, spreads = law.normal(size=(5, width)) / 2, np.exp(law.normal(size=(5, width)) * 0.3)
    weights = law.normal(size=width)
    shares = np.array([300, 600, 1_500, 3_000, 6_600]) / 12_000
    group = np.repeat(np.arange(5), np.round(shares * row_count).astype(int))
    values = random.normal(size=(group.size, width)) * spreads[group] + means[group]
    chance = (values - means[group] / 2) @ weights / np.sqrt(width) - 0.3
    frame = pd.DataFrame(values, columns=[f"x{index}" for index in range(width)])
    return frame.assign(group=group, outcome=selected(chance, random))


def made(
    name: str, make: Callable[..., pd.DataFrame], *, row_count: int, new_count: int, seed: int
) -> Made:
    """Return a made table and new rows of the same law."""
    random = np.random.default_rng(100 + seed)
    fitted, new = make(row_count, random), make(new_count, random)
    columns = tuple(column for column in fitted.columns if column not in ("group", "outcome"))
    fitted["row"], new["row"] = np.arange(len(fitted)), len(fitted) + np.arange(len(new))
    return Made(name=name, fitted=fitted, new=new, columns=columns)


# --- models ---


def encoded(model: Any, *, one_hot: bool = True) -> Any:
    """Return a model with the encoding of the columns that it needs."""
    words = make_column_selector(dtype_include=["object", "string", "category"])
    numbers = make_column_selector(dtype_include=["number", "bool"])
    if not one_hot:
        order = OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1
        )
        return make_pipeline(
            ColumnTransformer([("words", order, words), ("numbers", "passthrough", numbers)]), model
        )
    filled = make_pipeline(
        SimpleImputer(add_indicator=True, keep_empty_features=True), StandardScaler()
    )
    return make_pipeline(
        ColumnTransformer(
            [
                ("words", OneHotEncoder(handle_unknown="ignore", sparse_output=False), words),
                ("numbers", filled, numbers),
            ]
        ),
        model,
    )


def attackers() -> dict[str, Any]:
    """Return classifiers of the group."""
    trees = encoded(HistGradientBoostingClassifier(random_state=0), one_hot=False)
    forest = encoded(RandomForestClassifier(100, min_samples_leaf=5, random_state=0), one_hot=False)
    neighbours = encoded(KNeighborsClassifier(25, algorithm="brute"))
    return {
        "trees": trees,
        "forest": forest,
        "MLP": encoded(MLPClassifier((64, 32), early_stopping=True, max_iter=60, random_state=0)),
        "LightGBM": encoded(
            lightgbm.LGBMClassifier(random_state=0, verbosity=-1, n_jobs=1), one_hot=False
        ),
        "kNN": neighbours,
        "stack": StackingClassifier(
            [("trees", trees), ("forest", forest), ("kNN", neighbours)],
            LogisticRegression(),
            cv=3,
        ),
    }


def plain_columns(frame: pd.DataFrame, columns: tuple[str, ...]) -> pd.DataFrame:
    """Return the columns as scikit-learn takes them."""
    return pd.DataFrame(
        {
            name: frame[name].astype(float)
            if pd.api.types.is_numeric_dtype(frame[name])
            else frame[name].astype(object).where(frame[name].notna(), "missing")
            for name in columns
        }
    )


def error(predicted: Any, truth: Any) -> float:
    """Return the balanced error rate."""
    return float((np.mean(~predicted[truth]) + np.mean(predicted[~truth])) / 2)


def balanced_rows(truth: Any, random: np.random.Generator) -> Any:
    """Return as many rows of either group, in random order."""
    count = min(int(truth.sum()), int((~truth).sum()), MAX_ATTACK_ROWS // 2)
    sides = [random.permutation(np.flatnonzero(truth == side))[:count] for side in (True, False)]
    return random.permutation(np.concatenate(sides))


def attack(train: Any, train_truth: Any, test: Any, test_truth: Any, seed: int) -> dict[str, float]:
    """Return each attacker's BER."""
    rows = balanced_rows(train_truth, np.random.default_rng(seed))
    errors = {}
    for name, model in attackers().items():
        model.fit(train.iloc[rows], train_truth[rows])
        errors[name] = error(np.asarray(model.predict(test), dtype=bool), test_truth)
    return errors


def outcome_models() -> dict[str, Any]:
    """Return models of the outcome."""
    return {
        "LR": encoded(LogisticRegression(class_weight="balanced", max_iter=2_000)),
        "trees": encoded(
            HistGradientBoostingClassifier(class_weight="balanced", random_state=0), one_hot=False
        ),
    }


# --- figures ---


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What was measured of one repair."""

    attacks: dict[str, float]
    train_attacks: dict[str, float]
    auc: dict[str, float]
    utility: dict[str, float]
    parity_limit: float
    parity_limit_of_all: float
    blocks: int
    floor: float
    beta: float


def rank_within(score: Any, group: Any) -> Any:
    """Return each row's rank of the score within its group, from 0 to 1."""
    return pd.Series(score).groupby(np.asarray(group)).rank(pct=True).to_numpy()


def guide_scores(repairer: Any, frame: pd.DataFrame, guide: Any = None) -> Any:
    """Return the score that orders the rows."""
    rows = rows_of(frame)
    guide = repairer.model_.guide if guide is None else guide
    return guide.scores(rows, repairer.fitted_.numbers(rows))[:, 0]


def measured(
    table: Made,
    *,
    blocks: Any = "certified",
    seed: int = 0,
    halvings: int = 1,
    train_too: bool = False,
) -> Figures:
    """Repair a table, attack it, and say what is left of the outcome."""
    repairer = fourfifths.Repairer(
        table.protected,
        columns=list(table.columns),
        keep=table.outcome,
        favorable=table.favorable,
        unseen="keep",
        blocks=blocks,
        key=table.key,
        random_state=seed,
    ).fit(table.fitted)
    fitted = plain_columns(repairer.transform(table.fitted), table.columns)
    new = plain_columns(repairer.transform(table.new), table.columns)
    group = table.new[table.protected].to_numpy()
    names = table.fitted[table.protected].value_counts().index
    # Of two groups one attack says all; of more, each is told from the rest.
    attacks: dict[str, float] = {}
    for name in names[:1] if len(names) == 2 else names:
        truth = group == name
        found = []
        for halving in range(halvings):
            half = np.random.default_rng((seed, halving)).random(len(new)) < 0.5
            found.append(attack(new[half], truth[half], new[~half], truth[~half], seed))
        means = {key: float(np.mean([errors[key] for errors in found])) for key in found[0]}
        attacks = {key: min(value, attacks.get(key, 1.0)) for key, value in means.items()}
    train_attacks: dict[str, float] = {}
    if train_too:
        truth = (table.fitted[table.protected] == names[0]).to_numpy()
        train_attacks = attack(fitted, truth, new, group == names[0], seed)

    is_favorable, is_new_favorable = (
        (frame[table.outcome] == table.favorable).to_numpy() for frame in (table.fitted, table.new)
    )
    auc, utility = {}, {}
    for name, model in outcome_models().items():
        model.fit(fitted, is_favorable)
        auc[name] = float(roc_auc_score(is_new_favorable, model.predict_proba(new)[:, 1]))
        utility[name] = 1 - error(model.predict(new), is_new_favorable)
    every_row = fit_trees(
        repairer.fitted_.numbers(rows_of(table.fitted)),
        repairer.column_types_,
        outcomes=[
            Outcome(
                name="y", kind="binary", values=is_favorable.astype(float), classes=(False, True)
            )
        ],
        seed=seed,
    )
    own = guide_scores(repairer, table.new)
    own = own if repairer.model_.guide is None or _is_rising(own, is_new_favorable) else -own
    limits = [
        float(roc_auc_score(is_new_favorable, rank_within(score, group)))
        for score in (own, guide_scores(repairer, table.new, every_row))
    ]
    return Figures(
        attacks=attacks,
        train_attacks=train_attacks,
        auc=auc,
        utility=utility,
        parity_limit=limits[0],
        parity_limit_of_all=limits[1],
        blocks=repairer.proof_.blocks,
        floor=repairer.proof_.impact_floor,
        beta=repairer.proof_.beta,
    )


def _is_rising(score: Any, truth: Any) -> bool:
    """Return whether the score rises with the favorable outcome: classes are in their own order."""
    return bool(roc_auc_score(truth, score) >= 0.5)


def mean_of(figures: list[Figures]) -> Figures:
    """Return the mean over several splits."""

    def mean(name: str) -> Any:
        values = [getattr(own, name) for own in figures]
        if isinstance(values[0], dict):
            return {key: float(np.mean([own[key] for own in values])) for key in values[0]}
        return float(np.mean(values))

    return Figures(**{name: mean(name) for name in Figures.__dataclass_fields__})


# --- the tables that are printed ---


def line(name: str, value: float, *, least: float | None = None, most: float | None = None) -> None:
    """Print a figure, what it is to reach, and whether it does.

    The defaults are judged. Other numbers of blocks are there to compare with.
    """
    if "blocks=" in name and "certified" not in name:
        print(f"| {name} | {value:.3f} | | not judged |", flush=True)
        return
    is_reached = (least is None or value >= least) and (most is None or value <= most)
    reach = f"at least {least:g}" if least is not None else f"at most {most:g}"
    print(
        f"| {name} | {value:.3f} | {reach} | {'reached' if is_reached else 'missed'} |", flush=True
    )


def print_figures(table_name: str, figures: Figures) -> None:
    """Print the lines of one table."""
    print(f"| {table_name}: blocks | {figures.blocks:.0f} | | |")
    print(f"| {table_name}: proven floor at beta {figures.beta:.3f} | {figures.floor:.3f} | | |")
    for name, value in figures.attacks.items():
        reach = 0.49 if name in PANEL and figures.train_attacks else 0.48
        line(f"{table_name}: BER, {name}", value, least=reach)
    for name, value in figures.train_attacks.items():
        reach = 0.49 if name in PANEL else 0.48
        line(f"{table_name}: BER, {name}, trained on the training rows", value, least=reach)
    limits = f"parity limit {figures.parity_limit:.3f}, of a score from all training rows "
    limits += f"{figures.parity_limit_of_all:.3f}"
    for name, value in figures.auc.items():
        label = f"{table_name}: AUC of {name} {value:.3f} below its parity limit ({limits})"
        line(label, figures.parity_limit - value, most=0.015)


def print_head() -> None:
    """Print the head of a table."""
    print("\n| figure | measured | reach | result |\n| --- | ---: | --- | --- |")


def print_adult() -> None:
    """Measure Adult."""
    print_head()
    figures = measured(adult(), halvings=HALVINGS, train_too=True)
    print_figures("Adult by sex", figures)
    for name, value in figures.utility.items():
        line(f"Adult by sex: utility of {name}", value, least=0.79)
    line(f"Adult by sex: proven floor at beta {figures.beta:.3f}", figures.floor, least=0.8)
    line("Adult by sex: proven blocks", figures.blocks, least=32)


def print_tables() -> None:
    """Measure German and the made tables."""
    print_head()
    for blocks in ("certified", 8):
        figures = [
            measured(german(seed), blocks=blocks, seed=seed) for seed in range(GERMAN_SPLITS)
        ]
        name = f"German by age, mean of {GERMAN_SPLITS} splits, blocks={blocks!r}"
        print_figures(name, mean_of(figures))
    for name, make, row_count in (
        ("20 Gaussian columns", gaussian, 20_000),
        ("mixed types", mixed, 15_000),
        ("5 groups", five_groups, 12_000),
    ):
        table = made(name, make, row_count=row_count, new_count=60_000, seed=0)
        for blocks in ("certified", 32):
            print_figures(f"{name}, blocks={blocks!r}", measured(table, blocks=blocks))


# --- time ---


def wide(row_count: int) -> pd.DataFrame:
    """Return 11 columns, 5 of them categories, with a group and an outcome."""
    random = np.random.default_rng(0)
    group = random.integers(0, 2, row_count)
    numbers = random.normal(size=(row_count, 6)) + 0.3 * group[:, None]
    frame = pd.DataFrame(numbers, columns=[f"x{index}" for index in range(6)])
    chance = numbers.sum(axis=1) / 2
    for index, size in enumerate((3, 6, 10, 16, 40)):
        codes = random.integers(0, size, row_count)
        frame[f"c{index}"] = np.array([f"category {code}" for code in range(size)])[codes]
        chance += np.sin(codes)
    return frame.assign(group=group, outcome=selected(chance - 1, random))


def seconds(task: Callable[[], Any]) -> float:
    """Return the processor time of a task, on all threads: other work does not change it much."""
    start = process_time()
    task()
    return process_time() - start


def print_times() -> None:
    """Measure fits and transforms against the work of the guide in them."""
    print("\n| work | ours | the guide's own | ratio | reach | result |")
    print("| --- | ---: | ---: | ---: | --- | --- |")
    whole = adult()
    million = wide(1_000_000)
    for name, frame, columns, protected, outcome in (
        ("Adult, 32,561 x 11", whole.fitted, whole.columns, "sex", "income"),
        ("1,000,000 x 11", million, tuple(million.columns[:11]), "group", "outcome"),
    ):
        repairer = fourfifths.Repairer(protected, columns=list(columns), keep=outcome)
        repairer.fit(frame[:1_000])  # loads everything
        rows = rows_of(frame)
        numbers = rows.numbers(types := rows.types(dict.fromkeys(columns)))
        codes = pd.factorize(frame[protected])[0]
        draws = draws_of(rows, numbers, seed=0, key=None)
        fitted = fit_rows(codes, draws)
        fit_codes = np.full_like(codes, -1)
        fit_codes[fitted] = codes[fitted]
        planning = np.flatnonzero(planning_rows(fit_codes, draws))
        found = read_outcome(outcome, rows.column(outcome))
        target = Outcome(
            name=outcome, kind="binary", values=found.values[planning], classes=found.classes
        )
        planned = [own[planning] for own in numbers]
        times = [
            (
                seconds(lambda: repairer.fit(frame)),  # noqa: B023 - called at once
                seconds(lambda: fit_trees(planned, types, outcomes=[target], seed=0)),  # noqa: B023
            )
            for _ in range(ROUNDS)
        ]
        print_time(f"fit of {name}", times)
    booster = lightgbm.Booster(model_str=repairer.model_.guide.models[0])
    matrix = np.stack(repairer.fitted_.numbers(rows), axis=1)
    times = [
        (
            seconds(lambda: repairer.transform(million)),
            seconds(lambda: booster.predict(matrix, raw_score=True)),
        )
        for _ in range(ROUNDS)
    ]
    print_time("transform of 1,000,000 x 11", times)


def print_time(name: str, times: list[tuple[float, float]]) -> None:
    """Print the best of the times, and their ratio."""
    ours, others = (min(column) for column in zip(*times, strict=True))
    result = "reached" if ours / others <= 2 else "missed"
    print(
        f"| {name} | {ours:.2f} s | {others:.2f} s | {ours / others:.2f} | at most 2 | {result} |",
        flush=True,
    )


def main() -> None:
    """Print the tables that are asked for."""
    warnings.simplefilter("ignore")
    parts = {"adult": print_adult, "tables": print_tables, "time": print_times}
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
