"""Files that are whole at any moment."""
import contextlib
import os


@contextlib.contextmanager
def replaced(path):
    """A binary file to write to that takes the place of path when all is written and on disk: a
    kill at any moment leaves a whole file, the new one or what was there."""
    with open(path + ".part", "wb") as f:
        yield f
        f.flush()
        os.fsync(f.fileno())
    os.replace(path + ".part", path)
