"""Distil a rotary model into one without rotation, and into a control that keeps its rotation."""
