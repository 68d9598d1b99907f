"""Studies: every public function in this folder is a step that makes the result of its name."""
