"""The report of a fit: one HTML page that needs nothing but a browser."""

from consilience.report.page import write_report as write_report
