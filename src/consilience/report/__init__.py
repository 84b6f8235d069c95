"""The report of a fit: one HTML page that needs nothing but a browser.

Each module says what a section shows; the script of the same name in `assets` draws it. The room may import from every
other but `files`, `plots` and `cli`.
"""

from consilience.report.page import write_report as write_report
