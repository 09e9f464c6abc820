"""Numbers about series: levels, noise, excursions, courses. No rules."""
