"""Tables of layers without position encoding."""
