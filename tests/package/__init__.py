"""`make package`: the wheel and the source distribution, as the people who install them get them."""
