"""PyTorch's symmetric-memory all-reduces under CUDA graph, in microseconds: what small ones are held against.

torchrun --nproc_per_node 2 torch_one_shot.py --csv FILE. Multicast stays off.
"""

import argparse
import os

os.environ.setdefault("TORCH_SYMM_MEM_DISABLE_MULTICAST", "1")
os.environ.setdefault("NCCL_NVLS_ENABLE", "0")

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
import torch.distributed._symmetric_memory as symm_mem  # noqa: E402


def graph_us(call, calls=20, replays=10, repetitions=7):
    """Median time of one call: `calls` to a graph, `replays` between two events."""
    call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            call()
    times = []
    for _ in range(repetitions):
        dist.barrier()
        graph.replay()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(replays):
            graph.replay()
        end.record()
        end.synchronize()
        times.append(1e3 * begin.elapsed_time(end) / replays / calls)
    return sorted(times)[len(times) // 2]


def main():
    """Prints a row for each call and size, on rank 0."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--csv")
    options = parser.parse_args()
    rank = int(os.environ["RANK"])
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl", device_id=torch.device("cuda", torch.cuda.current_device()))
    group = dist.group.WORLD.group_name
    rows = ["call,bytes,us,wrong"]
    for bytes_ in [1024 * 4**k for k in range(7)]:
        tensor = symm_mem.empty(bytes_ // 2, dtype=torch.bfloat16, device="cuda")
        symm_mem.rendezvous(tensor, dist.group.WORLD)
        for name in ("one_shot_all_reduce", "two_shot_all_reduce_"):
            call = getattr(torch.ops.symm_mem, name)
            tensor.fill_(rank + 1)
            result = call(tensor, "sum", group)
            torch.cuda.synchronize()
            dist.barrier()
            world = dist.get_world_size()
            wrong = int((result != world * (world + 1) // 2).sum())
            tensor.zero_()
            us = graph_us(lambda: call(tensor, "sum", group))
            rows.append(f"{name.rstrip('_')},{bytes_},{us:.3f},{wrong}")
    if rank == 0:
        print("\n".join(rows))
        if options.csv:
            with open(options.csv, "w", encoding="utf-8") as file:
                file.write("\n".join(rows) + "\n")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
