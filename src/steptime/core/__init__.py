"""What runs inside a framework's interpreter: standard library and numpy only, Python 3.9 or newer.

This folder and the package's `__init__.py` are packed into `steptime-worker.pyz`; nothing outside of it may be imported here.
"""
