"""Studies: every public function of this room is a step that makes the result of its name."""
