"""Documents as HTML, Markdown, text and JSON, and as HiBench's report."""
