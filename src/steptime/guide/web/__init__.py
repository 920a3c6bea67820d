"""The page: its modules, stylesheet and pictures, and how they are joined for the browser."""
