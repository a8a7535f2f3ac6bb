"""Services that may use a part of the CPU's time, as in containers with a limit."""
import os

from servers import Server

GROUPS = "/sys/fs/cgroup"
PERIOD = 100_000  # microseconds, as container engines have it


class Limited(Server):
    """A service with so many cores' time in a control group of its own, from when it has
    started. OSError where there is no leave to make one: it takes root."""

    def __init__(self, *arguments, cores, **env):
        super().__init__(*arguments, **env)
        self.quota, self.folder = round(cores * PERIOD), ""

    def __enter__(self):
        super().__enter__()
        one = os.path.exists(os.path.join(GROUPS, "cgroup.controllers"))  # version 2: one tree for all controllers
        self.folder = os.path.join(GROUPS, "" if one else "cpu", f"dragoman-bench-{self.port}")
        try:
            os.mkdir(self.folder)
            self._write("cpu.max" if one else "cpu.cfs_quota_us", f"{self.quota} {PERIOD}" if one else self.quota)
            self._write("cgroup.procs", self.process.pid)
        except OSError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        super().__exit__()
        if os.path.isdir(self.folder):
            os.rmdir(self.folder)  # its files are not in the way

    def _write(self, file, value):
        with open(os.path.join(self.folder, file), "w", encoding="ascii") as f:
            f.write(str(value))
