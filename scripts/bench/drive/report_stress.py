"""The table of the stress stage."""
from tables import group, median, number, table


def report(found):
    """The stage's Markdown and its targets."""
    header, rows, targets = found["header"], [], []
    cells = group(found["runs"], "model", "records", "interval", "side")
    for (model, records, interval, side), runs in cells.items():
        runs = [r for r in runs if r.get("requests")]
        share = 100 * sum(r["answered"] for r in runs) / sum(r["requests"] for r in runs) if runs else None
        rows.append([model, records, interval, side, number(share, "%"),
                     *(number(median(runs, f)[0]) for f in ("mean_ms", "min_ms", "max_ms"))])
        if side == "dragoman":
            targets.append((f"stress test, {model}, {records} records every {interval} s: answered, %", 100, share))
    text = (f"## The original stress test\n\n{header['requests']} requests at fixed intervals. A request is answered by status "
            f"200 with all its records within {header['timeout_s']} s, where proxies often give up. The service that dragoman "
            "replaces answered 43% and 36% of the hardest of them on a V100.\n\n")
    head = ["model", "records", "interval, s", "side", "answered", "mean, ms", "min, ms", "max, ms"]
    return text + table(head, rows), targets
