"""How votes move between candidates where several seats are filled: a module for each family of rules."""
