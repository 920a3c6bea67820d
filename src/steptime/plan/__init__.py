"""From what the user asks for to a list of cases."""
