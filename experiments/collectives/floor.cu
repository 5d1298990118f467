// The floor of a small all-reduce between two GPUs: what a kernel written by hand for nothing else
// takes, and which of its parts cost how much. Knows nothing of Symposium. Graph replay, bf16 sums.
//
//   nvcc -std=c++17 -O3 -arch=sm_90 floor.cu -o floor && ./floor
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(3);
}

constexpr int nothing = 0, send_only = 2, claimed = 3, synced = 4, halves = 5, late = 6,
              cases = 7;
const char* const names[cases] = {"empty",  "whole",       "send only", "claimed",
                                  "synced", "8-byte flags", "count first"};

struct Arguments {
  const uint4* in;
  uint4* out;
  char* inbox;         // this GPU's: for each block two buffers of `bytes` * 2
  char* peer_inbox;
  std::uint64_t* count;  // messages of each block
  std::uint64_t* busy;
  unsigned groups;  // of 16 bytes, all blocks together
};

__device__ void store(void* to, uint4 v) {
  asm volatile("st.volatile.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(to), "r"(v.x), "r"(v.y),
               "r"(v.z), "r"(v.w)
               : "memory");
}
__device__ uint4 load(const void* from) {
  uint4 v;
  asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from)
               : "memory");
  return v;
}
__device__ std::uint32_t add(std::uint32_t a, std::uint32_t b) {
  const float low = __uint_as_float(a << 16) + __uint_as_float(b << 16);
  const float high = __uint_as_float(a & 0xffff0000U) + __uint_as_float(b & 0xffff0000U);
  const __nv_bfloat162 sum = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&sum);
}

template <int what>
__global__ void __launch_bounds__(512, 1) exchange(const __grid_constant__ Arguments a) {
  if constexpr (what == nothing) return;
  std::uint64_t claim = 0;
  if (what == claimed && threadIdx.x == blockDim.x - 1) claim = atomicExch(
      reinterpret_cast<unsigned long long*>(a.busy + blockIdx.x), 1ULL);
  const unsigned per_block = a.groups / gridDim.x;
  const unsigned mine = threadIdx.x < per_block ? threadIdx.x : 0;
  const unsigned group = blockIdx.x * per_block + mine;
  std::uint32_t epoch = 0;
  if constexpr (what == late) epoch = static_cast<std::uint32_t>(a.count[blockIdx.x]) + 1;
  if (what == late && epoch == 0) return;
  const uint4 own = a.in[group];
  if constexpr (what != late) epoch = static_cast<std::uint32_t>(a.count[blockIdx.x]) + 1;
  const std::size_t place =
      (std::size_t{blockIdx.x} * 2 + (epoch & 1)) * per_block * 32 + std::size_t{mine} * 16;
  const std::size_t row = std::size_t{per_block} * 16;
  if (threadIdx.x < per_block) {
    if constexpr (what == halves) {
      store(a.peer_inbox + place, {own.x, epoch, own.y, epoch});
      store(a.peer_inbox + place + row, {own.z, epoch, own.w, epoch});
    } else {
      store(a.peer_inbox + place, {own.x, own.y, own.z, epoch});
      store(a.peer_inbox + place + row, {own.w, 0, 0, epoch});
    }
  }
  if constexpr (what == synced) {
    __syncthreads();
    __syncthreads();
  }
  if (what != send_only && threadIdx.x < per_block) {
    uint4 first, second;
    do {
      first = load(a.inbox + place);
      second = load(a.inbox + place + row);
    } while (first.w != epoch || second.w != epoch || (what == halves && first.y != epoch) ||
             (what == halves && second.y != epoch));
    const uint4 other = what == halves ? uint4{first.x, first.z, second.x, second.z}
                                       : uint4{first.x, first.y, first.z, second.x};
    a.out[group] = {add(own.x, other.x), add(own.y, other.y), add(own.z, other.z),
                    add(own.w, other.w)};
  }
  __syncthreads();
  if (threadIdx.x == 0) a.count[blockIdx.x] = epoch;
  if constexpr (what == claimed) {
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1 && claim == 0) a.busy[blockIdx.x] = 0;
  }
}

using Kernel = void (*)(const Arguments);
const Kernel kernels[cases] = {exchange<0>, exchange<1>, exchange<2>, exchange<3>,
                               exchange<4>, exchange<5>, exchange<6>};

struct Gpu {
  Arguments arguments{};
  cudaStream_t stream{};
  cudaEvent_t begin{}, end{};
};

double time_us(std::vector<Gpu>& gpus, int what, int blocks, int threads) {
  constexpr int launches = 40, replays = 10, repeats = 7;
  std::vector<cudaGraphExec_t> graphs(2);
  for (int g = 0; g < 2; ++g) {
    check(cudaSetDevice(g), "set device");
    cudaGraph_t graph;
    check(cudaStreamBeginCapture(gpus[g].stream, cudaStreamCaptureModeThreadLocal), "capture");
    for (int i = 0; i < launches; ++i)
      kernels[what]<<<blocks, threads, 0, gpus[g].stream>>>(gpus[g].arguments);
    check(cudaStreamEndCapture(gpus[g].stream, &graph), "end capture");
    check(cudaGraphInstantiate(&graphs[g], graph, 0), "instantiate");
    check(cudaGraphDestroy(graph), "destroy");
  }
  double best = 1e9;
  for (int r = 0; r < repeats; ++r) {
    for (int g = 0; g < 2; ++g) {
      check(cudaSetDevice(g), "set device");
      check(cudaGraphLaunch(graphs[g], gpus[g].stream), "warm up");
      check(cudaEventRecord(gpus[g].begin, gpus[g].stream), "record");
    }
    for (int i = 0; i < replays; ++i) {
      for (int g = 0; g < 2; ++g) {
        check(cudaSetDevice(g), "set device");
        check(cudaGraphLaunch(graphs[g], gpus[g].stream), "launch");
      }
    }
    for (int g = 0; g < 2; ++g) {
      check(cudaSetDevice(g), "set device");
      check(cudaEventRecord(gpus[g].end, gpus[g].stream), "record");
    }
    for (int g = 0; g < 2; ++g) check(cudaEventSynchronize(gpus[g].end), "synchronize");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, gpus[0].begin, gpus[0].end), "elapsed");
    best = std::min(best, ms * 1e3 / (replays * launches));
  }
  for (cudaGraphExec_t graph : graphs) check(cudaGraphExecDestroy(graph), "destroy");
  return best;
}

}  // namespace

int main() {
  constexpr std::size_t most = std::size_t{1} << 20;
  std::vector<Gpu> gpus(2);
  for (int g = 0; g < 2; ++g) {
    check(cudaSetDevice(g), "set device");
    check(cudaDeviceEnablePeerAccess(1 - g, 0), "peer access");
    Arguments& a = gpus[g].arguments;
    check(cudaMalloc(const_cast<uint4**>(&a.in), most), "malloc");
    check(cudaMalloc(&a.out, most), "malloc");
    check(cudaMalloc(&a.inbox, 8 * most), "malloc");
    check(cudaMalloc(&a.count, 4096), "malloc");
    check(cudaMalloc(&a.busy, 4096), "malloc");
    check(cudaMemset(a.inbox, 0, 8 * most), "memset");
    check(cudaMemset(a.count, 0, 4096), "memset");
    check(cudaMemset(a.busy, 0, 4096), "memset");
    check(cudaStreamCreateWithFlags(&gpus[g].stream, cudaStreamNonBlocking), "stream");
    check(cudaEventCreate(&gpus[g].begin), "event");
    check(cudaEventCreate(&gpus[g].end), "event");
    check(cudaDeviceSynchronize(), "synchronize");
  }
  for (int g = 0; g < 2; ++g) gpus[g].arguments.peer_inbox = gpus[1 - g].arguments.inbox;
  const struct {
    unsigned bytes;
    int blocks, threads;
  } points[] = {{1024, 1, 64},   {1024, 1, 128},   {1024, 1, 512},   {1024, 2, 32},
                {16384, 16, 64}, {16384, 8, 128},  {16384, 4, 256},  {16384, 2, 512},
                {65536, 64, 64}, {65536, 32, 128}, {65536, 16, 256}, {65536, 8, 512},
                {262144, 128, 128}, {262144, 64, 256}, {262144, 32, 512}};
  std::printf("%8s %6s %7s", "bytes", "blocks", "threads");
  for (const char* name : names) std::printf(" %12s", name);
  std::printf("\n");
  for (const auto& point : points) {
    std::printf("%8u %6d %7d", point.bytes, point.blocks, point.threads);
    for (int what = 0; what < cases; ++what) {
      for (Gpu& gpu : gpus) gpu.arguments.groups = point.bytes / 16;
      // Counts begin anew, and flags of other layouts must not look right.
      for (int g = 0; g < 2; ++g) {
        check(cudaSetDevice(g), "set device");
        check(cudaMemset(gpus[g].arguments.inbox, 0, 8 * most), "memset");
        check(cudaMemset(gpus[g].arguments.count, 0, 4096), "memset");
        check(cudaDeviceSynchronize(), "synchronize");
      }
      std::printf(" %12.2f", time_us(gpus, what, point.blocks, point.threads));
      std::fflush(stdout);
    }
    std::printf("\n");
  }
}
