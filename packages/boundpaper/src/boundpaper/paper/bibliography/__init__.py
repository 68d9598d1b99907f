"""Read the bibliography `paper/references.bib` the same way for PDF, site, lint, check and bundle.

`grammar` parses the BibTeX file, `vocabulary` converts BibLaTeX's kinds and fields to BibTeX's, `markup` parses the
LaTeX of a field, `setting` writes it, and `names` parses lists of authors; `entries` combines them and writes the file
for BibTeX.
"""

from boundpaper.paper.bibliography.entries import FILE, Bibliography, BibliographyEntry, parse, read

__all__ = ["FILE", "Bibliography", "BibliographyEntry", "parse", "read"]
