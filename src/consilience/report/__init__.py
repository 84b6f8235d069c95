"""The report of a fit, and the page of a stream: HTML that needs nothing but a browser.

`page` writes the report: each module says what a section shows, and the script of the same name in `assets` draws it.
`stream` draws what `monitor` found. The room may import from every other but `files`, `plots` and `cli`.
"""

from consilience.report.page import write_report as write_report
