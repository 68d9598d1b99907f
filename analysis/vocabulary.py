"""Keys of a pair's two models in the column `positional`, in the order of display."""

ROTARY = "RoPE"
DROPPED = "DroPE"
PAIR = (ROTARY, DROPPED)
