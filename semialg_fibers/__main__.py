"""`python -m semialg_fibers` is the command `semialg-fibers`."""

from semialg_fibers.cli import main

if __name__ == "__main__":
    main()
