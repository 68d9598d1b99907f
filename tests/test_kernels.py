"""Rounding noise of another processor does not count as a difference; `check_kernels.py` runs other kernels."""

import numpy as np
import pandas as pd

from boundpaper.store.canonical import agree, canonical_frame, content_hash


def test_committed_zero_equals_noise_of_another_processor():
    one, two = (b"estimate,p_value\n0.5,0.25\n%s,1\n" % zero for zero in (b"0", b"-3.9905378e-18"))
    assert agree(one, two)
    assert content_hash(one.decode()) == content_hash(two.decode())
    assert not agree(one, b"estimate,p_value\n0.5,0.25\n1e-9,1\n")
    assert not agree(b"p_value\n1\n1e-20\n", b"p_value\n1\n0\n")


def test_noise_is_rounded_to_zero_and_a_small_p_is_kept():
    frame = pd.DataFrame(
        {"estimate": [2.0, -4e-18, -0.0, np.nan], "p_value": [1.0, 1e-87, 0.5, np.nan], "n": [1, 2, 3, 4]}
    )
    kept = canonical_frame(frame)
    assert kept["estimate"].tolist()[:3] == [2.0, 0.0, 0.0]
    assert not np.signbit(kept["estimate"].to_numpy()[:3]).any()
    assert kept["p_value"].tolist()[:2] == [1.0, 1e-87]
    assert kept["n"].tolist() == [1, 2, 3, 4]
    assert kept.isna().equals(frame.isna())


def test_content_hash_ignores_line_ends_and_quoting():
    plain = "name,value\nqwen,0.12345678\nllama,3\n"
    assert content_hash(plain) == content_hash(plain.replace("\n", "\r\n").replace("qwen", '"qwen"'))
    assert content_hash(plain) == content_hash(plain.replace("0.12345678", "0.12345679"))
    for other in (plain.replace("0.12345678", "0.12346"), plain.replace(",3", ",4"), plain.replace("qwen", "q,wen")):
        assert content_hash(plain) != content_hash(other)
    assert content_hash("a,b\n1,2\n") != content_hash("a,b\n12,\n")
    assert content_hash("a,b\n") != content_hash("a,c\n")
