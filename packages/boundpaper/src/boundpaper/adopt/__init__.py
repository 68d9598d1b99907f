r"""Adopt: a LaTeX paper that exists binds its numbers to the data beside it, and can be had back as it was.

`boundpaper.toml` names main file and data; `bound/` holds generated plain LaTeX, which is committed; the author's own
files hold `\val{table/key/column:.3f}`.
"""
