"""The guide as a web application."""
