"""Types: the frozen records that pass from one folder to another, and the errors."""
