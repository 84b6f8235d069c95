"""What every other room uses: array libraries, threads, files, progress bars, tables and optional libraries.

Nothing here knows of classifiers or items. It imports from no other room; every room may import from it.
"""
