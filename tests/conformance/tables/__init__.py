"""The tables of rows, one module for each family of methods."""

from conformance.tables import arrays, lifetimes, pictures, runs, scalars, steps, tf1

ROWS = [*scalars.ROWS, *pictures.ROWS, *arrays.ROWS, *runs.ROWS, *steps.ROWS, *lifetimes.ROWS, *tf1.ROWS]
