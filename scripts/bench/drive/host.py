"""The machine: what it is, and whether something else uses it."""
import os
import platform
import subprocess
import time

import psutil

import settings

TICKS = os.sysconf("SC_CLK_TCK")


def describe():
    """What a reader of the numbers must know of the machine and the versions."""
    def output(*command):
        try:
            return subprocess.run(command, cwd=settings.ROOT, capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            return "unknown"

    with open("/proc/cpuinfo", encoding="utf8") as f:
        cpu = dict(line.split("\t: ") for line in f.read().replace("\t\t:", "\t:").split("\n\n")[0].splitlines()
                   if "\t: " in line)
    flags = set(cpu.get("flags", "").split())
    return {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": output("git", "describe", "--always", "--dirty", "--abbrev=12"),
        "cpu": cpu.get("model name", platform.machine()),
        "cores": os.cpu_count(),
        "instructions": sorted(flags & {"avx2", "avx512f", "avx512_vnni", "avx_vnni", "avx512_bf16", "amx_int8"}),
        "memory_gb": round(psutil.virtual_memory().total / 1e9, 1),
        "python": platform.python_version(),
        "go": output("go", "env", "GOVERSION"),
        "load_average": os.getloadavg()[0],
    }


class Noise:
    """Measures what of the CPU others used while it was watched: all of the machine's
    busy time, stolen time included, less that of this process and its descendants.

        with Noise() as noise: ...
        noise.other, noise.noisy
    """

    ALLOWED = 0.04  # of the machine's CPU time

    def __enter__(self):
        self.begin = time.monotonic()
        self.busy, self.own = _busy(), _own()
        self.load = os.getloadavg()[0]
        return self

    def __exit__(self, *_):
        self.seconds = time.monotonic() - self.begin
        # Seconds of CPU. Processes that ended in between take their time along.
        self.other = max(0.0, _busy() - self.busy - max(0.0, _own() - self.own))
        # Counters have steps of 10 ms for each core.
        self.noisy = self.other > self.ALLOWED * self.seconds * os.cpu_count() + 0.1

    def fields(self):
        return {"load": round(self.load, 2), "other_cpu_s": round(self.other, 2), "noisy": self.noisy}


def _busy():
    with open("/proc/stat", encoding="ascii") as f:
        user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, f.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / TICKS


def _own():
    me = psutil.Process()
    total = 0.0
    for process in [me, *me.children(recursive=True)]:
        try:
            t = process.cpu_times()
            total += t.user + t.system + t.children_user + t.children_system
        except psutil.NoSuchProcess:
            pass
    return total
