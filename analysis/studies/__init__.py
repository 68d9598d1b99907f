"""Studies: each public function here is a step and makes the result that bears its name."""
