"""Define RULER's lengths and the score above which a length counts as effective (Hsieh et al. 2024)."""

LENGTHS = ("4k", "8k", "16k", "32k", "64k", "128k")
THRESHOLD = 85.6  # the score of Llama-2-7B (chat) at 4k
