"""``python -m rankwright`` is ``rankwright``."""

from rankwright.cli.main import main

if __name__ == "__main__":
    main(prog_name="rankwright")
