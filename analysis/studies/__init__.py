"""Studies: each public function here is a step that makes the result of the same name."""
