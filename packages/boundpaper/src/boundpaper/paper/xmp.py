r"""Write a PDF's XMP metadata. PDF/A requires that XMP and Info dictionary are equal (ISO 19005-2, 6.6).

The `.tex` contains the metadata as the text of a stream. Characters other than letters, digits and plain punctuation
are written as numeric references, so that neither TeX nor XML interprets them.
"""

import string

PLAIN = frozenset(string.ascii_letters + string.digits + " .,:;()'/-")
NAMESPACES = {
    "dc": "http://purl.org/dc/elements/1.1/",
    "pdf": "http://ns.adobe.com/pdf/1.3/",
    "pdfaid": "http://www.aiim.org/pdfa/ns/id/",
    "xmp": "http://ns.adobe.com/xap/1.0/",
}


def packet(*, title: str, author: str, subject: str, keywords: str, creator: str, producer: str) -> str:
    r"""Return the XMP of a PDF/A-2b document.

    Arguments are as in the PDF's Info dictionary; an empty argument is omitted. The packet is ASCII text for
    `\pdfobj stream`, where `#` and `&` must have category "other".

    Examples
    --------
    >>> from boundpaper.paper.xmp import packet
    >>> text = packet(title="Beans & sun", author="", subject="", keywords="bean", creator="LaTeX", producer="pdfTeX")
    >>> "Beans &#38; sun" in text, "dc:creator" in text
    (True, False)
    """
    properties = [
        "<pdfaid:part>2</pdfaid:part><pdfaid:conformance>B</pdfaid:conformance>",
        _xml_list("dc:title", "Alt", title),
        _xml_list("dc:creator", "Seq", author),
        _xml_list("dc:description", "Alt", subject),
        _xml_element("pdf:Keywords", keywords),
        _xml_element("xmp:CreatorTool", creator),
        _xml_element("pdf:Producer", producer),
    ]
    names = " ".join(f'xmlns:{name}="{address}"' for name, address in NAMESPACES.items())
    return (
        '<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">'
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        + f'<rdf:Description rdf:about="" {names}>{"".join(properties)}</rdf:Description></rdf:RDF></x:xmpmeta>'
        '<?xpacket end="r"?>'
    )


def _xml_element(name: str, text: str) -> str:
    escaped = "".join(char if char in PLAIN else f"&#{ord(char)};" for char in text)
    return f"<{name}>{escaped}</{name}>" if text else ""


def _xml_list(name: str, kind: str, text: str) -> str:
    element = _xml_element("rdf:li", text)
    if kind == "Alt":
        element = element.replace("<rdf:li>", '<rdf:li xml:lang="x-default">', 1)
    return f"<{name}><rdf:{kind}>{element}</rdf:{kind}></{name}>" if text else ""
