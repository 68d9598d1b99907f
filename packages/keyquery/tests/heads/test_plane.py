"""Moments, joint PCA, planar rotation and component weights: closed forms and properties."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from heads_reference import head_with
from keyquery.heads import pca as components
from keyquery.heads.components import position_weights
from keyquery.heads.head import Head
from keyquery.heads.moments import class_moments, head_moments
from keyquery.heads.pca import component_kind, pca
from keyquery.heads.plasticity import PlasticityOptions, plasticity
from keyquery.heads.rotation import Rotation, rotation


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_moments_equal_numpy_of_class_and_pool(kind: type) -> None:
    head = head_with(seed=1, queries=3000, keys=1100)
    head = replace(head, queries=head.queries.astype(kind) + kind(50), keys=head.keys.astype(kind))
    by_class = head_moments(head)
    rows = np.concatenate([head.queries, head.keys]).astype(np.float64)
    times = np.concatenate([head.query_positions, head.key_positions]).astype(np.float64)
    for moments, x, t in (
        (by_class.queries, rows[:3000], times[:3000]),
        (by_class.keys, rows[3000:], times[3000:]),
        (by_class.pool, rows, times),
    ):
        joint = np.cov(np.column_stack([x, t]), rowvar=False, ddof=0)
        np.testing.assert_allclose(moments.mean, x.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(moments.covariance, joint[:-1, :-1], rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(moments.position_covariance, joint[:-1, -1], rtol=1e-10, atol=1e-8)
        assert moments.position_variance == pytest.approx(joint[-1, -1])
        assert (moments.n, moments.position_mean) == (len(x), pytest.approx(t.mean()))


def test_components_equal_a_singular_value_decomposition() -> None:
    head = head_with(seed=2, queries=300, keys=200, dimension=12)
    by_class = pca(head_moments(head))
    pool = np.concatenate([head.queries, head.keys])
    _, sizes, axes = np.linalg.svd(pool - pool.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(by_class.explained, (sizes**2 / np.sum(sizes**2))[:10], rtol=1e-10)
    np.testing.assert_allclose(np.abs(np.sum(by_class.directions * axes[:10], axis=1)), 1, rtol=1e-10)
    for row, r_q, r_k in zip(by_class.directions, by_class.r_q, by_class.r_k, strict=True):
        assert r_q == pytest.approx(stats.pearsonr(head.queries @ row, head.query_positions).statistic)
        assert r_k == pytest.approx(stats.pearsonr(head.keys @ row, head.key_positions).statistic)
        assert r_q >= 0.05 or (abs(r_q) < 0.05 and r_k >= 0)


def test_linear_share_is_the_variance_that_a_regression_explains() -> None:
    head = head_with(seed=3)
    design = np.column_stack([np.ones(240), head.query_positions])
    fitted = design @ np.linalg.lstsq(design, head.queries, rcond=None)[0]
    expected = fitted.var(axis=0).sum() / head.queries.var(axis=0).sum()
    assert pca(head_moments(head), 3).linear_share_q == pytest.approx(expected)
    assert pca(head_moments(head), 3).linear_share_k != pytest.approx(expected)


@pytest.mark.parametrize(
    ("r_q", "r_k", "kind"),
    [
        (0.8, -0.8, components.POSITION_DOMINATED), (0.8, 0.8, components.POSITION_DOMINATED),
        (0.8, -0.1, components.Q_POSITIONAL), (0.1, -0.9, components.K_POSITIONAL),
        (0.1, 0.2, components.CONTENT_FOCUSED), (0.5, 0.1, components.MIXED), (0.7, 0.7, components.MIXED),
        (0.3, 0.3, components.MIXED),
    ],
)  # fmt: skip
def test_planes_are_classified(r_q: float, r_k: float, kind: str) -> None:
    assert component_kind(r_q, r_k) == kind


def planted(share_q: float, share_k: float, seed: int = 0) -> Head:
    """Return a head whose main direction follows position to a given degree in queries and in keys."""
    rng = np.random.default_rng(seed)
    times = rng.integers(0, 1000, 4000)
    standard = (times - times.mean()) / times.std()

    def vectors(share: float) -> np.ndarray:
        rows = rng.normal(size=(4000, 8))
        rows[:, 0] = 10 * (share * standard + np.sqrt(1 - share**2) * rng.normal(size=4000))
        return rows

    zeros = np.zeros(4000, dtype=np.int64)
    return Head(
        queries=vectors(share_q), query_positions=times, query_documents=zeros, keys=vectors(share_k),
        key_positions=times, key_documents=zeros, context=1000,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("share_q", "share_k", "kind"),
    [
        (0.95, 0.9, components.POSITION_DOMINATED), (0.95, 0.0, components.Q_POSITIONAL),
        (0.0, -0.95, components.K_POSITIONAL), (0.0, 0.0, components.CONTENT_FOCUSED),
        (-0.5, 0.5, components.MIXED),
    ],
)  # fmt: skip
def test_planted_heads_are_classified_by_kind(share_q: float, share_k: float, kind: str) -> None:
    assert pca(head_moments(planted(share_q, share_k)), 2).kind == kind


def rows_of(head: Head) -> tuple[np.ndarray, np.ndarray]:
    """Return pooled vectors and positions."""
    return np.concatenate([head.queries, head.keys]), np.concatenate([head.query_positions, head.key_positions])


@settings(max_examples=25, derandomize=True, deadline=None)
@given(seed=st.integers(0, 10_000), drift=st.floats(0.1, 50), separation=st.sampled_from(["distance", "centroid"]))
def test_orthogonal_directions_do_not_covary_with_position(seed: int, drift: float, separation: str) -> None:
    head = head_with(seed=seed, drift=drift)
    plane = rotation(head_moments(head), head.context, separation)
    x, t = rows_of(head)
    covariance = (x - x.mean(axis=0)).T @ (t - t.mean()) / len(t)
    remainder = covariance - (covariance @ plane.a) * plane.a
    scale = np.sqrt(x.var(axis=0).sum() * t.var())
    assert np.linalg.norm(remainder) / scale < 1e-12
    assert abs(plane.residual_pos_r) < 1e-12
    assert abs(plane.a @ plane.b) < 1e-15
    assert np.linalg.norm(plane.a) == pytest.approx(1)
    assert np.linalg.norm(plane.b) == pytest.approx(1)


def test_rotation_equals_its_definitions() -> None:
    head = head_with(seed=4, drift=4.0)
    plane = rotation(head_moments(head), head.context)
    q, k, tq, tk = head.queries, head.keys, head.query_positions, head.key_positions
    differences = (q[:, None, :] - k[None, :, :]).reshape(-1, q.shape[1])
    distance = differences.T @ differences / len(differences)
    projection = np.eye(6) - np.outer(plane.a, plane.a)
    values, vectors = np.linalg.eigh(projection @ distance @ projection)
    assert abs(vectors[:, -1] @ plane.b) == pytest.approx(1)
    assert plane.separation_strength == pytest.approx(values[-1] / np.trace(distance))
    assert plane.alpha_q == pytest.approx(stats.linregress(tq, q @ plane.a).slope)
    assert plane.alpha_k == pytest.approx(stats.linregress(tk, k @ plane.a).slope)
    assert plane.r_q_a == pytest.approx(stats.pearsonr(q @ plane.a, tq).statistic)
    assert plane.r_k_a == pytest.approx(stats.pearsonr(k @ plane.a, tk).statistic)
    assert plane.r_q_b == pytest.approx(stats.pearsonr(q @ plane.b, tq).statistic)
    assert plane.r_k_b == pytest.approx(stats.pearsonr(k @ plane.b, tk).statistic)
    assert plane.mu_q_a == pytest.approx((q @ plane.a).mean())
    assert plane.mu_k_a == pytest.approx((k @ plane.a).mean())
    assert plane.mu_q_b == pytest.approx((q @ plane.b).mean())
    assert plane.mu_k_b == pytest.approx((k @ plane.b).mean())
    assert plane.bias_strength == pytest.approx((q @ plane.a).mean() * plane.alpha_k)
    assert plane.bias_window == pytest.approx(plane.bias_strength * 800)
    total = rows_of(head)[0].var(axis=0).sum()
    assert plane.var_frac_a == pytest.approx((rows_of(head)[0] @ plane.a).var() / total)
    assert plane.var_frac_b == pytest.approx((rows_of(head)[0] @ plane.b).var() / total)
    assert plane.plane_var_fraction == pytest.approx(plane.var_frac_a + plane.var_frac_b)
    assert plane.content_var_b == pytest.approx(((q @ plane.b).var() + (k @ plane.b).var()) / 2)


def test_centroid_axis_is_the_mean_difference_without_its_drift() -> None:
    head = head_with(seed=5)
    plane = rotation(head_moments(head), head.context, "centroid")
    between = head.queries.mean(axis=0) - head.keys.mean(axis=0)
    expected = between - (between @ plane.a) * plane.a
    np.testing.assert_allclose(plane.b, expected / np.linalg.norm(expected), atol=1e-12)


@settings(max_examples=20, derandomize=True, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_planar_quantities_are_invariant_under_joint_orthogonal_maps(seed: int) -> None:
    head = head_with(seed=seed)
    turn = stats.ortho_group.rvs(6, random_state=seed)
    plane = rotation(head_moments(head), head.context)
    for change in (turn, -np.eye(6)):
        turned = replace(head, queries=head.queries @ change, keys=head.keys @ change)
        other = rotation(head_moments(turned), head.context)
        for name, value in vars(plane).items():
            if name not in ("a", "b", "residual_pos_r"):
                assert getattr(other, name) == pytest.approx(value, rel=1e-6, abs=1e-9), name


def planar_score(plane: Rotation, query_position: np.ndarray, key_position: np.ndarray) -> np.ndarray:
    """Return the mean score at given positions from the means along axes a and b and the drift along axis a."""
    later_q, later_k = query_position - plane.query_position_mean, key_position - plane.key_position_mean
    constant = plane.mu_q_a * plane.mu_k_a + plane.mu_q_b * plane.mu_k_b
    bias = plane.mu_q_a * plane.alpha_k * later_k
    return constant + bias + plane.alpha_q * plane.mu_k_a * later_q + plane.alpha_q * plane.alpha_k * later_q * later_k


def test_planar_score_is_the_mean_score_of_queries_and_keys_in_the_plane() -> None:
    head = head_with(seed=6, queries=4000, keys=4000, drift=20.0)
    plane = rotation(head_moments(head), head.context)
    tq, tk = head.query_positions[:, None].astype(float), head.key_positions[None, :].astype(float)
    model = planar_score(plane, tq, tk)
    axes = np.stack([plane.a, plane.b])
    scores = (head.queries @ axes.T) @ (head.keys @ axes.T).T
    assert model.shape == scores.shape
    # both are linear in position up to noise on b and within a, so their means agree exactly
    assert model.mean() == pytest.approx(scores.mean(), rel=1e-9)
    slope_k = stats.linregress(np.broadcast_to(tk, model.shape).mean(axis=0), model.mean(axis=0)).slope
    assert slope_k == pytest.approx(plane.bias_strength, rel=1e-9)


def test_heads_without_drift_or_separation_are_refused() -> None:
    head = head_with(seed=7)
    moments = head_moments(replace(head, queries=np.ones((240, 6)), keys=np.ones((60, 6))))
    with pytest.raises(ValueError, match="no drift axis"):
        rotation(moments, 800)
    with pytest.raises(ValueError, match="without variance has no components"):
        pca(moments, 3)
    with pytest.raises(ValueError, match="give one of distance, centroid"):
        rotation(head_moments(head), 800, "mean")
    with pytest.raises(ValueError, match="7 components of 6 dimensions"):
        pca(head_moments(head), 7)
    line = np.outer(np.arange(10.0), [1.0, 0.0])
    along = Head(
        queries=line + np.array([5.0, 0.0]), query_positions=np.arange(10),
        query_documents=np.zeros(10, dtype=np.int64), keys=line, key_positions=np.arange(10),
        key_documents=np.zeros(10, dtype=np.int64), context=10, buckets=2,
    )  # fmt: skip
    with pytest.raises(ValueError, match="differ only along a"):
        rotation(head_moments(along), 10, "centroid")
    plane: Rotation = rotation(head_moments(along), 10)
    assert plane.r_q_a == pytest.approx(1)


def test_component_weights_are_shares_of_r_squared() -> None:
    head = head_with(seed=8)
    constant = head.queries.copy()
    constant[:, 2] = 4.0
    weights = position_weights(class_moments(constant, head.query_positions))
    fits = [stats.linregress(head.query_positions, constant[:, j]) for j in (0, 1, 3, 4, 5)]
    squares = np.insert([fit.rvalue**2 for fit in fits], 2, 0.0)
    np.testing.assert_allclose(weights.r_squared, squares, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(weights.weights, squares / squares.sum(), rtol=1e-9)
    assert weights.beta_norm == pytest.approx(np.linalg.norm([fit.slope for fit in fits]))
    assert weights.r_squared_mean == pytest.approx(squares.mean())
    flat = position_weights(class_moments(np.ones((5, 3)), np.arange(5)))
    assert flat.weights.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"query_positions": np.full(240, 800)}, "all at one position"),
        ({"query_positions": np.arange(240) - 1}, r"from -1 to 238, but must lie in 0 to context - 1 \(799\)"),
        ({"key_positions": np.arange(59)}, r"60 keys have positions \(59,\) and documents \(60,\)"),
        ({"key_documents": np.zeros(60)}, "documents float64; give integers"),
        ({"keys": np.zeros((60, 5))}, "queries have 6 dimensions, keys 5"),
        ({"keys": np.zeros((60, 6), dtype=int)}, "give floats"),
        ({"keys": np.full((60, 6), np.inf)}, "360 values are not finite"),
        ({"keys": np.full((60, 6), 3e15)}, "a value of 3e\\+15 is larger than in any real model"),
        ({"queries": np.full((240, 6), -1e38, np.float32)}, "a value of 1e\\+38 is larger than in any real model"),
        ({"buckets": 801}, "801 buckets of a context of 800 tokens"),
        ({"keys": np.zeros((2, 6)), "key_positions": np.arange(2), "key_documents": np.arange(2)}, "fewer than three"),
        ({"keys": np.zeros((1, 60, 6))}, r"keys have shape \(1, 60, 6\)"),
        ({"keys": np.zeros((60, 6), np.longdouble)}, "floats of 32 or 64 bits"),
        ({"keys": [[1.0, 2.0], [3.0]]}, "keys: numpy cannot convert this list"),
        ({"keys": None}, "type object; give floats"),
        ({"keys": np.ma.masked_less(np.zeros((60, 6)), 1)}, "keys: a masked array"),
        ({"query_positions": None}, r"queries have positions \(\)"),
        ({"context": 800.0}, "context is 800.0; give a whole number"),
        ({"buckets": "16"}, "buckets is '16'; give a whole number"),
        ({"window": float("nan")}, "window is nan"),
        ({"rotary": {"theta": 10000}}, "rotary is a dict"),
    ],
)
def test_invalid_heads_are_refused(changes: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(head_with(seed=9), **changes)


def test_head_accepts_lists_frames_half_precision_and_swapped_bytes() -> None:
    head = head_with(seed=9)
    half = head.queries.astype(np.float16)
    options = PlasticityOptions(estimator="bucket_full")
    expected = plasticity(replace(head, queries=half.astype(np.float32)), options).to_frame()
    inputs = (half, half.astype(np.float32).tolist(), pd.DataFrame(half), half.astype(">f4"), np.asfortranarray(half))
    for form in inputs:
        pd.testing.assert_frame_equal(plasticity(replace(head, queries=form), options).to_frame(), expected)


@pytest.mark.parametrize("changes", [{"bins": 4.0}, {"bins": "4"}, {"cap": 2.5}, {"seed": -1}, {"min_queries": None}])
def test_fractional_options_are_refused_by_name(changes: dict) -> None:
    with pytest.raises(ValueError, match=f"^{next(iter(changes))} is "):
        PlasticityOptions(**changes)
