"""Runs the program of the package: python -m dragoman, or dragoman."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys


def main() -> None:
    program = pathlib.Path(__file__).with_name("bin") / ("dragoman.exe" if os.name == "nt" else "dragoman")
    if not program.exists():
        sys.exit("dragoman: this folder has the client, and not the program: install a wheel of dragoman for this system")
    if os.name == "nt":  # where a program cannot take the place of another one
        sys.exit(subprocess.call([str(program), *sys.argv[1:]]))
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    main()
