"""The demo, as `gradledger demo` runs it: a recurrent network reads digits, with and without gradient clipping.

    python examples/sequential_digits.py            about 20 s
    python examples/sequential_digits.py --quick    about 3 s

The program is optim/demo/sequential_digits.py, so that an installed gradledger has it, too.
"""

import os

# The matrices are small: a second BLAS thread gains nothing, and loses much where the machine is busy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from optim.demo.sequential_digits import main

if __name__ == "__main__":
    main()
