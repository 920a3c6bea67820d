"""One file per format, found by its name and imported on first use. Each has

    TOOL                       the tool that writes such files
    looks_like(file) -> bool   by content, cheaply; the first importer, in the order of names, that returns True gets the file
    entries(file)              yields an Entry for each result; raises Refused where the file cannot be trusted

CONTRIBUTING walks through adding one.
"""
