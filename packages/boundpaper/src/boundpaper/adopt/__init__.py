r"""Bind the numbers of an existing LaTeX paper to the data beside it ("adopt" it), and undo that on request.

`boundpaper.toml` names main file and data; `bound/` holds generated plain LaTeX, which is committed; the author's own
files hold `\val{table/key/column:.3f}`.
"""
