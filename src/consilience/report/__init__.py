"""What the members said and what became of it, as one HTML page that needs nothing but a browser."""

from consilience.report.page import write_report as write_report
