"""Read the bibliography `paper/references.bib` for the PDF, the site and the checks.

`grammar` parses the file, `vocabulary` converts BibLaTeX's kinds and fields to BibTeX's, and `names` parses lists of
authors. `markup` parses the LaTeX of a field, and `setting` writes it as LaTeX or HTML. `entries` combines these steps.
"""

from boundpaper.paper.bibliography.entries import FILE, Bibliography, BibliographyEntry, parse, read

__all__ = ["FILE", "Bibliography", "BibliographyEntry", "parse", "read"]
