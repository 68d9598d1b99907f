"""The heads of a capture: found, analysed in parallel and written as tables."""
