#!/usr/bin/env python3
"""The measured rows, simulated: the same variant, size and blocks on machine h200x2, and the errors by size class.

    simulate.py [RESULTS [SYM]]      default: results beside this file, build/ci/sym

Writes RESULTS/simulated.csv and prints the table of README.md. No number of the machine was fitted to these rows but
`post_us` (one row of copy_engine), and what parts.txt says of packets (early_us, packet_pass_us).
"""
import csv
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "results"
SYM = sys.argv[2] if len(sys.argv) > 2 else str(HERE.parent.parent / "build/ci/sym")
CLASSES = [("up to 64 KiB", 0, 64 << 10), ("64 KiB to 4 MiB", 64 << 10, 4 << 20), ("over 4 MiB", 4 << 20, 1 << 60)]
QUEUES = ("copy_engine", "staged")  # their blocks follow from their pieces


def measured():
    for path in sorted({file for name in ("*_all.csv", "*_auto.csv", "small_*.csv") for file in RESULTS.glob(name)}):
        for row in csv.DictReader(path.open()):
            if row["backend"] == "cuda" and row["variant"] != "nccl":
                yield path.name, row


def simulated_us(row, scratch):
    words = [SYM, "run", row["algorithm"], "--backend", "sim", "--machine", "h200x2", "--pes", row["pes"], "--no-data",
             "--dtype", row["dtype"], "--bytes", row["bytes"], "--variant", row["variant"], "--csv", scratch]
    if row["variant"] not in QUEUES:
        words += ["--blocks", row["blocks"]]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return float(next(csv.DictReader(open(scratch)))["time_us"])


def errors(rows, low, high):
    return sorted(abs(row["simulated_us"] / row["time_us"] - 1) * 100 for row in rows if low < row["bytes"] <= high)


def cell(found):
    return f"{statistics.median(found):.1f} / {found[-1]:.1f} ({len(found)})" if found else ""


def main():
    rows = []
    with tempfile.NamedTemporaryFile(suffix=".csv") as scratch:
        for name, row in measured():
            rows.append({"file": name, "algorithm": row["algorithm"], "variant": row["variant"],
                         "bytes": int(row["bytes"]), "blocks": int(row["blocks"]), "time_us": float(row["time_us"]),
                         "simulated_us": simulated_us(row, scratch.name)})
    with (RESULTS / "simulated.csv").open("w", newline="") as out:
        writer = csv.DictWriter(out, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print("| median / worst, % (rows) | " + " | ".join(name for name, _, _ in CLASSES) + " |")
    print("| --- | --- | --- | --- |")
    groups = {name: [row for row in rows if row["algorithm"] == name] for name in sorted({row["algorithm"] for row in rows})}
    groups["all"] = rows
    groups["all but push and two trees"] = [r for r in rows if r["variant"] not in ("push", "double_tree")]
    for name, some in groups.items():
        print(f"| {name} | " + " | ".join(cell(errors(some, low, high)) for _, low, high in CLASSES) + " |")


main()
