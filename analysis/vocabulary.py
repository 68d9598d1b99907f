"""Name the two models of a pair as the column `positional` does, in the order in which they are shown."""

ROTARY = "RoPE"
DROPPED = "DroPE"
PAIR = (ROTARY, DROPPED)
