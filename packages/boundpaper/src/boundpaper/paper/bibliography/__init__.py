"""Read the bibliography `paper/references.bib` the same way for PDF, site, lint, check and bundle.

`grammar` reads what BibTeX's grammar allows, `vocabulary` turns the words of BibLaTeX into those of BibTeX, `markup`
reads the LaTeX of a field and `setting` writes it, `names` reads the lists of authors; `entries` puts them together
into the file that BibTeX reads.
"""

from boundpaper.paper.bibliography.entries import FILE, Bibliography, BibliographyEntry, parse, read

__all__ = ["FILE", "Bibliography", "BibliographyEntry", "parse", "read"]
