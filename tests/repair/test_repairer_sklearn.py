"""scikit-learn's contract: its own checks, pipelines, searches, output containers, routing."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from fourfifths import Repairer

A, B = [1.0, 2, 3, 4], [10.0, 20, 30, 40]
FULL = [5.5, 11, 16.5, 22]
HAND = pd.DataFrame({"x": A + B, "n": np.arange(8), "g": list("aaaabbbb")})
GROUP = HAND["g"].to_numpy()

# --- scikit-learn's checks ---


def own_groups(X: Any) -> NDArray[Any] | None:
    """Return a group for each row, by the row itself; None where there are no rows to read."""
    if sparse.issparse(X) or (isinstance(X, np.ndarray) and np.iscomplexobj(X)):
        return None
    try:
        rows = np.nan_to_num(np.asarray(X, dtype=float))
    except (TypeError, ValueError):
        return None
    if rows.ndim != 2 or not rows.size:
        return None
    weighted = np.abs(rows) @ np.arange(1, rows.shape[1] + 1)
    return np.floor(weighted * 51).astype(np.int64) % 4 >= 2  # some of each in all the checks' rows


class Grouped(Repairer):  # type: ignore[misc]
    """A Repairer for checks that know nothing of protected values: each row has its own."""

    def fit(self, X: Any, y: Any = None) -> Grouped:
        return super().fit(X, y, protected=own_groups(X))

    def transform(self, X: Any) -> Any:
        return super().transform(X, protected=own_groups(X))

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        return self.fit(X, y).transform(X)


class GroupedWithoutOutcome(Grouped):
    """The same, without an outcome: what is kept are the columns themselves."""

    def fit(self, X: Any, y: Any = None) -> Grouped:
        return super().fit(X)


# Checks that cannot hold, each with its reason.
WITHOUT_A_KEY = {
    "check_methods_subset_invariance": "without a key, equal values of one call are split evenly",
    "check_methods_sample_order_invariance": "without a key, equal rows are told apart by order",
}
WITH_AN_OUTCOME = dict.fromkeys(
    [
        "check_dict_unchanged",
        "check_dont_overwrite_parameters",
        "check_f_contiguous_array_estimator",
        "check_fit2d_1feature",
        "check_fit2d_predict1d",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_n_features_in_after_fitting",
    ],
    "fewer than 10 planning rows are too few to learn a score",
) | {"check_pipeline_consistency": "its first column is the outcome"}


def failing_checks(estimator: Repairer) -> dict[str, str]:
    """Return which of scikit-learn's checks cannot hold for an estimator, and why."""
    if estimator.scope == "column":
        return WITHOUT_A_KEY if estimator.ties == "split" else {}
    return {} if isinstance(estimator, GroupedWithoutOutcome) else WITH_AN_OUTCOME


@pytest.mark.slow
@parametrize_with_checks(
    [
        Grouped(scope="column"),
        Grouped(scope="column", ties="mid"),
        Grouped(),
        GroupedWithoutOutcome(),
        GroupedWithoutOutcome(blocks=2),
    ],
    expected_failed_checks=failing_checks,
)
@pytest.mark.filterwarnings("ignore:blocks='certified'")
def test_scikit_learns_checks(estimator: Repairer, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize("kind", [sparse.dok_array, sparse.dok_matrix])
def test_every_kind_of_sparse_matrix_is_refused_as_such(kind: Any) -> None:
    with pytest.raises(TypeError, match="Sparse data was passed"):
        Repairer().fit(kind(np.eye(8)), protected=GROUP)


# --- parameters, copies ---


def test_a_clone_is_unfitted_and_has_the_same_parameters() -> None:
    options = {"columns": {"x": "number"}, "scope": "column", "amount": 0.25, "random_state": 3}
    repairer = Repairer(["g"], **options).fit(HAND)
    copy = clone(repairer)
    assert copy.get_params() == repairer.get_params()
    assert not hasattr(copy, "model_")
    with pytest.raises(NotFittedError, match="not fitted yet"):
        copy.transform(HAND)


@pytest.mark.parametrize("call", ["transform", "explain", "save"])
def test_nothing_works_before_fit(call: str, tmp_path: Any) -> None:
    given = tmp_path / "repair.json" if call == "save" else HAND
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(Repairer("g"), call)(given)
    assert not (tmp_path / "repair.json").exists()


def test_a_parameter_that_there_is_not_is_an_error() -> None:
    with pytest.raises(ValueError, match="Invalid parameter 'level'"):
        Repairer().set_params(level=3)


@pytest.mark.parametrize(
    "options",
    [
        {"scope": "column", "columns": ["x"]},
        {"columns": ["x"], "blocks": 4},
        {"keep": "y", "blocks": 4, "variety": 2, "amount": 0.5},
    ],
    ids=["column", "blocks", "blocks and outcome"],
)
def test_a_pickled_repair_goes_on_where_it_stood(options: dict[str, Any]) -> None:
    frame = pd.DataFrame({"x": np.arange(200) % 5, "g": ["a"] * 120 + ["b"] * 80})
    frame["y"] = frame["x"] > np.arange(200) % 3
    frame["x"] += 2 * (frame["g"] == "b")
    repairer = Repairer("g", **options).fit(frame)
    out = repairer.transform(frame)
    assert not out.equals(frame)
    copy = pickle.loads(pickle.dumps(repairer))
    pd.testing.assert_frame_equal(copy.transform(frame), out)
    assert repr(copy.proof_) == repr(repairer.proof_)


def test_a_fit_again_forgets_the_last_one() -> None:
    frame, outcome = learnable()
    repairer = Repairer("g", columns=["x", "z"], blocks=4).fit(frame, outcome)
    assert repairer.proof_.blocks == 4
    repairer.set_params(scope="column", columns=["x"], blocks="certified").fit(frame)
    assert repairer.proof_ is None
    assert [column.name for column in repairer.column_types_] == ["x"]


# --- names and containers ---


def test_names_go_out_as_they_came_in() -> None:
    array = HAND[["x", "n"]].to_numpy()
    named = Repairer("g", columns=["x"], blocks=2).fit(HAND)
    assert list(named.get_feature_names_out()) == ["x", "n", "g"]
    unnamed = Repairer(blocks=2).fit(array, protected=GROUP)
    assert list(unnamed.get_feature_names_out()) == ["x0", "x1"]
    assert list(unnamed.get_feature_names_out(["p", "q"])) == ["p", "q"]
    with pytest.raises(ValueError, match="input_features is not equal to feature_names_in_"):
        named.get_feature_names_out(["x", "n", "h"])


@pytest.mark.parametrize("scope", [{"blocks": 2}, {"scope": "column"}], ids=["blocks", "column"])
def test_the_protected_columns_may_be_dropped(scope: dict[str, Any]) -> None:
    frame = HAND.assign(h=list("pqpqpqpq"))
    options: dict[str, Any] = scope | {"columns": ["x"]}
    kept = Repairer("g", **options).fit_transform(frame)
    repairer = Repairer("g", **options, drop_protected=True).fit(frame)
    assert list(repairer.get_feature_names_out()) == ["x", "n", "h"]
    pd.testing.assert_frame_equal(repairer.transform(frame), kept.drop(columns="g"))
    out = repairer.set_output(transform="polars").transform(frame)
    assert out.columns == ["x", "n", "h"]
    twice = pd.concat([frame, frame], ignore_index=True)
    joint = Repairer(["g", "h"], **options, drop_protected=True)
    assert joint.fit_transform(twice).columns.tolist() == ["x", "n"]
    # Values that come with the data are no columns of it.
    array = HAND[["x"]].to_numpy()
    beside = Repairer(drop_protected=True, **scope)
    assert beside.fit_transform(array, protected=GROUP).shape == array.shape
    assert list(beside.get_feature_names_out()) == ["x0"]


@pytest.mark.parametrize("scope", ["column"])
def test_an_array_comes_out_as_the_frame_that_is_set(scope: str) -> None:
    array = HAND[["x", "n"]].to_numpy()
    repairer = Repairer(scope=scope).fit(array, protected=GROUP)
    for library, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        out = repairer.set_output(transform=library).transform(array, protected=GROUP)
        assert type(out) is kind
        assert list(out.columns) == ["x0", "x1"]
        assert list(out["x0"]) == FULL * 2


def test_a_frame_comes_out_as_the_frame_that_is_set_with_its_types() -> None:
    frame = HAND.assign(s=pd.array(["u", None] * 4, dtype="str"), i=pd.array([1] * 8, dtype="Int8"))
    given = pl.from_pandas(frame)
    repairer = Repairer("g", scope="column", columns=["x"])
    out = repairer.set_output(transform="pandas").fit_transform(given)
    assert type(out) is pd.DataFrame
    assert out["x"].tolist() == FULL * 2
    assert out["s"].isna().tolist() == [False, True] * 4
    assert (out["n"].dtype, out["i"].dtype) == ("int64", "int8")
    out = repairer.set_output(transform="polars").fit_transform(frame)
    assert type(out) is pl.DataFrame
    assert out.schema == given.schema
    assert out["x"].to_list() == FULL * 2
    out = repairer.set_output(transform="default").fit_transform(frame)
    pd.testing.assert_frame_equal(out.drop(columns="x"), frame.drop(columns="x"))


@pytest.mark.parametrize("library", ["pandas", "polars", "default"])
def test_blocks_come_out_as_the_frame_that_is_set_with_their_types(library: Any) -> None:
    frame, outcome = learnable()
    frame["whole"] = np.arange(400) % 7
    frame["letter"] = pd.array(["u", "v", None, "v"] * 100, dtype="str")
    for given in (frame, pl.from_pandas(frame)):
        repairer = Repairer("g", blocks=4).set_output(transform=library)
        out = repairer.fit_transform(given, outcome)
        kinds = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "default": type(given)}
        assert type(out) is kinds[library]
        assert list(out.columns) == ["g", "x", "z", "whole", "letter"]
        plain = out if isinstance(out, pl.DataFrame) else pl.from_pandas(out)
        assert plain.schema == pl.from_pandas(frame).schema
        written = plain[["x", "z", "whole", "letter"]].unique()
        assert len(written) == 4


# --- inside other things ---


def learnable(rows: int = 400) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Return a table whose column says much of the outcome, and more of the group."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"g": np.where(np.arange(rows) % 2, "a", "b")})
    frame["x"] = random.normal(size=rows) + 3.0 * (frame["g"] == "a")
    frame["z"] = random.normal(size=rows)
    return frame, (frame["x"] + random.normal(size=rows) > 1.5).to_numpy()


def test_a_column_transformer_may_hold_it() -> None:
    whole = ColumnTransformer(
        [("repair", Repairer("g", columns=["x"], scope="column"), ["x", "g"])],
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    out = whole.fit_transform(HAND)
    assert out.columns.tolist() == ["x", "g", "n"]
    assert out["x"].tolist() == FULL * 2
    assert out["n"].tolist() == HAND["n"].tolist()


def pipeline() -> Pipeline:
    kept = make_column_transformer(("passthrough", ["x", "z"]))
    repairer = Repairer("g", columns=["x", "z"], scope="column")
    return make_pipeline(repairer, kept, LogisticRegression())


def test_a_pipeline_repairs_what_it_predicts() -> None:
    frame, outcome = learnable()
    raw = pipeline().set_params(repairer__amount=0).fit(frame, outcome).predict(frame)
    full = pipeline().fit(frame, outcome).predict(frame)
    group = (frame["g"] == "a").to_numpy()

    def gap(selected: NDArray[Any]) -> float:
        return float(abs(selected[group].mean() - selected[~group].mean()))

    assert gap(raw) > 0.5
    assert gap(full) < 0.05


def test_a_pipeline_by_blocks_does_not_see_the_group() -> None:
    frame, outcome = learnable(4_000)
    numbers = frame.assign(g=(frame["g"] == "a").astype(int))
    whole = make_pipeline(Repairer("g", blocks=8, drop_protected=True), LogisticRegression())
    whole.fit(numbers, outcome)
    assert whole[-1].feature_names_in_.tolist() == ["x", "z"]
    selected, group = whole.predict(numbers), numbers["g"] == 1
    # Each block has the same share of either group, to within a row of the placing ones; planning
    # rows are new to the blocks, and differ by chance: at most 3 standard errors of a share.
    gap = abs(selected[group].mean() - selected[~group].mean())
    assert 0.2 < selected.mean() < 0.8
    assert gap < 3 * np.sqrt(2 * 0.25 / 2_000)


def test_a_clone_in_a_pipeline_is_fitted_anew_to_y() -> None:
    frame, outcome = learnable()
    repairer = Repairer("g", blocks=4, random_state=3)
    first = repairer.fit_transform(frame, outcome)
    pd.testing.assert_frame_equal(clone(repairer).fit_transform(frame, outcome), first)
    other = clone(repairer).fit_transform(frame, frame["z"] > 0)
    assert not other.equals(first)


def test_a_search_over_the_amount_keeps_what_predicts() -> None:
    frame, outcome = learnable()
    search = GridSearchCV(pipeline(), {"repairer__amount": [0.0, 0.5, 1.0]}, cv=3)
    search.fit(frame, outcome)
    scores = search.cv_results_["mean_test_score"]
    assert search.best_params_ == {"repairer__amount": 0.0}
    assert scores[0] > scores[1] > scores[2]


def test_protected_values_are_routed_to_it() -> None:
    frame, outcome = learnable()
    values, group = frame[["x", "z"]].to_numpy(), frame["g"].to_numpy()
    with sklearn.config_context(enable_metadata_routing=True):
        repairer = Repairer(scope="column")
        repairer.set_fit_request(protected=True).set_transform_request(protected=True)
        routed = make_pipeline(repairer, LogisticRegression())
        routed.fit(values, outcome, protected=group)
        found = routed.predict(values, protected=group)
        search = GridSearchCV(routed, {"repairer__amount": [0.0, 1.0]}, cv=3)
        search.fit(values, outcome, protected=group)
    assert np.array_equal(found, pipeline().fit(frame, outcome).predict(frame))
    assert search.best_params_ == {"repairer__amount": 0.0}


def test_routing_says_what_was_not_asked_for() -> None:
    frame, outcome = learnable()
    with sklearn.config_context(enable_metadata_routing=True):
        silent = make_pipeline(Repairer(), LogisticRegression())
        with pytest.raises(ValueError, match="protected"):
            silent.fit(frame[["x", "z"]], outcome, protected=frame["g"])
