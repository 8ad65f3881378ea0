"""What an election promises to voters who tell the truth, with explicit constants."""
