"""The two models of a pair as the column `positional` calls them, in the order in which they are shown."""

ROTARY = "RoPE"
DROPPED = "DroPE"
PAIR = (ROTARY, DROPPED)
