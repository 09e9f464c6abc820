"""Shows runs, series and tables: in notebooks, plots, data frames and on terminals. Nothing below imports it."""
