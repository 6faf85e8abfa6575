"""The paper's tables as CSV files."""
