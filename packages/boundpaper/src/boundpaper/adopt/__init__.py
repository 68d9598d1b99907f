r"""Adopt an existing LaTeX paper: bind its numbers to the data files beside it, and undo the binding on request.

`boundpaper.toml` names the main file and the data; `bound/` contains generated plain LaTeX, which is committed; the
author's files use `\val{table/key/column:.3f}`.
"""
