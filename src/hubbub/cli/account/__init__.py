"""``hubbub account``: the theorems as a calculator."""
