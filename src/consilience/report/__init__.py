"""The report of a fit: one HTML page that needs nothing but a browser.

`payload` says what a section shows, `assets/sections.js` draws it. It may import from every room but `files`, `plots`,
`experiments` and `cli`.
"""

from consilience.report.page import write_report as write_report
