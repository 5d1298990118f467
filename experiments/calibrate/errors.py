#!/usr/bin/env python3
"""Each measured row of a folder, simulated on a machine with the row's own blocks: errors by size class.

    errors.py MACHINE.json RESULTS OUT.csv [WITHOUT,...] [SYM]

Of RESULTS/{all_gather,...}.csv, as run.sh's sweep writes them, but for the variants WITHOUT. OUT.csv gets algorithm,
variant, blocks, bytes, measured and simulated microseconds. SYM: default build/ci/sym.
"""
import csv
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

MACHINE, RESULTS, OUT = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
WITHOUT = sys.argv[4].split(",") if len(sys.argv) > 4 else []
SYM = sys.argv[5] if len(sys.argv) > 5 else str(Path(__file__).resolve().parent.parent.parent / "build/ci/sym")
ALGORITHMS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast")
CLASSES = [("up to 64 KiB", 0, 64 << 10), ("64 KiB to 4 MiB", 64 << 10, 4 << 20), ("over 4 MiB", 4 << 20, 1 << 60)]


def simulated(algorithm, variant, blocks, sizes):
    with tempfile.NamedTemporaryFile(suffix=".csv") as scratch:
        subprocess.run(
            [SYM, "run", algorithm, "--backend", "sim", "--machine", MACHINE, "--no-data", "--dtype", "bf16", "--variant",
             variant, "--blocks", blocks, "--sizes", ",".join(sizes), "--csv", scratch.name],
            check=True, stdout=subprocess.DEVNULL)
        return {row["bytes"]: float(row["time_us"]) for row in csv.DictReader(open(scratch.name))}


def main():
    rows = []
    for algorithm in ALGORITHMS:
        groups = {}
        for row in csv.DictReader((RESULTS / f"{algorithm}.csv").open()):
            if row["variant"] not in WITHOUT:
                groups.setdefault((row["variant"], row["blocks"]), {})[row["bytes"]] = float(row["time_us"])
        for (variant, blocks), measured in groups.items():
            times = simulated(algorithm, variant, blocks, list(measured))
            rows += [(algorithm, variant, blocks, size, us, times[size]) for size, us in measured.items()]
    with open(OUT, "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("algorithm", "variant", "blocks", "bytes", "measured_us", "simulated_us"))
        writer.writerows(rows)
    for name, low, high in CLASSES:
        found = sorted((abs(row[5] / row[4] - 1) * 100, row[0], row[1]) for row in rows if low < int(row[3]) <= high)
        worst = {f"{algorithm} {variant}" for error, algorithm, variant in found if error > 25}
        print(f"{name}: median {statistics.median(error for error, _, _ in found):.1f} %, worst {found[-1][0]:.1f} %, "
              f"{len(found)} rows; above 25 %: {', '.join(sorted(worst)) or 'none'}")


if __name__ == "__main__":
    main()
