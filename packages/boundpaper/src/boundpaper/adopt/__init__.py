r"""Adopt an existing LaTeX paper: bind its numbers to the data files beside it, and undo the binding on request.

`boundpaper.toml` names the main file and the data. The author's files use values as `\val{table/key/column:.3f}`, which
`bound/` defines in generated LaTeX without packages; `bound/` is committed.
"""
