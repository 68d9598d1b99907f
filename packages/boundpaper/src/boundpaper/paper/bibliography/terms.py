"""List the entry kinds and fields that BibTeX's styles support, and their names in other programs."""

KINDS = frozenset(
    "article book booklet inbook incollection inproceedings manual mastersthesis misc phdthesis proceedings techreport "
    "unpublished".split()
)
KIND_ALIASES = {  # kinds of other programs, and the kinds that they become
    "conference": "inproceedings", "online": "misc", "electronic": "misc", "www": "misc", "webpage": "misc",
    "website": "misc", "internet": "misc", "software": "misc", "dataset": "misc", "data": "misc", "preprint": "misc",
    "patent": "misc", "standard": "misc", "legal": "misc", "letter": "misc", "artwork": "misc", "audio": "misc",
    "video": "misc", "image": "misc", "music": "misc", "movie": "misc", "performance": "misc", "other": "misc",
    "jurisdiction": "misc", "legislation": "misc", "report": "techreport", "collection": "book", "mvbook": "book",
    "mvcollection": "book", "reference": "book", "mvreference": "book", "mvproceedings": "proceedings",
    "periodical": "book", "bookinbook": "incollection", "suppbook": "incollection", "suppcollection": "incollection",
    "inreference": "incollection", "suppperiodical": "article", "review": "article", "thesis": "phdthesis",
    "magazine": "article", "newspaper": "article", "unspecified": "misc", "softwareversion": "misc",
    "thesis:phd": "phdthesis", "talk": "misc", "presentation": "misc", "slides": "misc",
    "masterthesis": "mastersthesis", "bachelorsthesis": "mastersthesis", "intechreport": "techreport",
    "glossdef": "misc", "game": "misc", "map": "misc",
}  # fmt: skip
PRINTED_FIELDS = frozenset(  # fields that BibTeX's styles print
    """
    address author booktitle chapter doi edition editor eid howpublished institution isbn issn journal key month note
    number organization pages publisher school series title type url volume year
    """.split()
)
FIELD_ALIASES = {  # fields of other programs, and the fields that they become; empty if none
    "journaltitle": "journal", "location": "address", "journalabbr": "journal", "fjournal": "journal",
    "shortjournal": "journal", "issue": "number", "numberofpages": "", "origlocation": "address", "venue": "address",
    "eventtitle": "booktitle", "bookauthor": "", "addendum": "note", "pubstate": "year", "city": "address",
}  # fmt: skip
OTHER_FIELDS = frozenset(  # converted to fields of BibTeX by `vocabulary`, or not printed
    """
    crossref xdata date urldate eprint eprinttype archiveprefix eprintclass primaryclass archive subtitle booksubtitle
    maintitle mainsubtitle journalsubtitle titleaddon day langid language hyphenation version holder articleno
    article-number lastchecked pmid pubmed booktitleaddon urlyear urlmonth lastaccessed accessed annote abstract file
    keywords keyword options shorttitle shortauthor shorthand sortkey presort label sortname sortyear sorttitle
    editortype editora translator issuetitle eventdate pagetotal numpages origdate origtitle related relatedtype xref
    entryset ids timestamp owner rights copyright publicationtype coden mrnumber mrclass zblnumber issn-l eissn biburl
    bibsource adsurl adsnote slaccitation reportnumber collaboration nationality comment library groups priority rating
    read review keywords-plus affiliation part volumes entrysubtype usera userb verba execute gender indextitle
    nameaddon pagination bookpagination reprinttitle introduction foreword afterword commentator annotator issn_ isbn_
    pmcid number_of_pages source place contents price size category eventplace conference meeting series-editor funding
    localfile date-added date-modified
    """.split()
)
ARCHIVES = {"arxiv": "arXiv", "pubmed": "PMID", "hal": "HAL", "jstor": "JSTOR", "googlebooks": "Google Books"}
