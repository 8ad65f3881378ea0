"""Count channels: one exact count in, one published value out, and the exact privacy of it."""
