"""The report: the numbers and claims of the paper beside ours, and the statistics that decide."""
