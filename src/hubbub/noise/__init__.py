"""The source of randomness, and exact samplers of integer laws."""
