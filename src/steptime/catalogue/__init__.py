"""The zoo for people: a list of all models, and a drawing of each."""
