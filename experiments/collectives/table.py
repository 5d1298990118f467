"""The rows that README.md names, from a folder of results: ours, NCCL's best, the ratio, and the target."""

import csv
import glob
import os
import sys

KIB, MIB = 1024, 1024 * 1024
# (what, algorithm, bytes, variants that count (None: auto's choice), least ratio, most microseconds)
TARGETS = (
    [("all-reduce", "all_reduce", size, None, 1.6, us) for size, us in ((KIB, 2.4), (16 * KIB, 2.8))]
    + [
        ("all-reduce", "all_reduce", size, None, ratio, None)
        for size, ratio in ((64 * KIB, 2.1), (256 * KIB, 1.9), (MIB, 1.9), (4 * MIB, 1.7))
    ]
    + [("all-reduce, blocks alone", "all_reduce", size * MIB, ("two_shot",), 1.10, None) for size in (64, 256)]
    + [("all-reduce, auto", "all_reduce", size * MIB, None, 1.2, None) for size in (64, 256)]
    + [("all-gather", "all_gather", size, None, 1.5, None) for size in (KIB, 16 * KIB, 64 * KIB)]
    + [("all-gather", "all_gather", size * MIB, None, 1.15, None) for size in (64, 256)]
    + [("reduce-scatter", "reduce_scatter", size, None, 1.6, None) for size in (KIB, 16 * KIB, 64 * KIB)]
    + [("reduce-scatter", "reduce_scatter", 64 * MIB, None, 1.55, None)]
    + [("reduce-scatter", "reduce_scatter", 256 * MIB, None, 1.5, None)]
    + [("all-to-all", "all_to_all", size, None, 2.4, None) for size in (KIB, 16 * KIB, 64 * KIB)]
    + [("all-to-all", "all_to_all", 64 * MIB, None, 1.15, None), ("all-to-all", "all_to_all", 256 * MIB, None, 1.05, None)]
)


def rows_of(folder, name):
    """The rows of one result file, or none."""
    path = os.path.join(folder, name + ".csv")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def size_text(size):
    """1024 as 1 KiB."""
    return f"{size // MIB} MiB" if size >= MIB else f"{size // KIB} KiB"


def found(folder, algorithm, size, variants):
    """The fastest right row of those that count, and whose time NCCL's best of that run was."""
    files = [algorithm + "_auto"] if variants is None else [os.path.basename(path)[:-4] for path in glob.glob(os.path.join(folder, algorithm + "_*.csv"))]
    fitting = [
        row
        for file in files
        for row in rows_of(folder, file)
        if int(row["bytes"]) == size and row["wrong"] in ("0", "") and (variants is None or row["variant"] in variants)
    ]
    return min(fitting, key=lambda row: float(row["time_us"]), default=None)


def copy_rate(folder):
    """GB/s of the copy engines, both ways at once, of the largest copy; 0: not measured."""
    both = [row for row in rows_of(folder, "copy_rate") if row["directions"] == "2"]
    return float(max(both, key=lambda row: int(row["bytes"]))["gbps"]) if both else 0


def main(folder):
    """Prints the table."""
    rate = copy_rate(folder)
    if rate:
        print(f"Copy engines, both ways at once: {rate:.0f} GB/s each way.\n")
    print("| what | bytes | variant | us | NCCL's best, us | ratio | target | of the copy engine's rate |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for what, algorithm, size, variants, ratio, most_us in TARGETS:
        row = found(folder, algorithm, size, variants)
        if row is None:
            print(f"| {what} | {size_text(size)} | not measured | | | | {ratio}x | |")
            continue
        us, nccl = float(row["time_us"]), float(row["baseline_us"] or 0)
        reached = nccl / us
        good = reached >= ratio and (most_us is None or us <= most_us)
        target = f"{ratio}x" + (f", {most_us} us" if most_us else "") + (": met" if good else ": missed")
        moved = size / 2 * (2 if algorithm == "all_reduce" else 1)  # each way, of two PEs
        share = f"{100 * moved / us * 1e-3 / rate:.0f} %" if rate and size >= 16 * MIB else ""
        print(
            f"| {what} | {size_text(size)} | {row['variant']} | {us:.2f} | {nccl:.2f} ({row['baseline']}) "
            f"| {reached:.2f}x | {target} | {share} |"
        )
    for row in rows_of(folder, "torch"):
        print(f"\nPyTorch {row['call']}, {size_text(int(row['bytes']))}: {float(row['us']):.2f} us")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "results")
