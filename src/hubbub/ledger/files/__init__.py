"""What lies beside a ledger's own file: what its series keep in secret, and backups of all of it."""
