// What changes between kernels and copies cost inside a graph, what flags behind copies cost, and
// what copies share: the parts of a collective by the copy engine. Prints pattern and microseconds
// of one, as CSV. One process, two GPUs; every pattern is 20 times in a graph on each GPU, all
// replayed together.
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

namespace {

constexpr std::size_t most = std::size_t{1} << 27;
constexpr int calls = 20;

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "turns: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

__global__ void empty_kernel() {}
__global__ void copy_kernel(uint4* to, const uint4* from, std::size_t n) {
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    to[i] = from[i];
}
// Until the flag is 1; sets it back.
__global__ void take_kernel(volatile unsigned* flag) {
  while (*flag == 0) {
  }
  *flag = 0;
  __threadfence_system();
}

// Both GPUs are there.
__global__ void meet_kernel(volatile unsigned* peers, volatile unsigned* own) {
  __threadfence_system();
  *peers = 1;
  while (*own == 0) {
  }
  *own = 0;
  __threadfence_system();
}
// Flags of 256 bytes each.
constexpr std::size_t flag_words = 64, flags = 16, flag_of_meeting = 8;

using Ops = std::vector<CUstreamBatchMemOpParams>;

CUstreamBatchMemOpParams write_op(unsigned* at, unsigned value) {
  CUstreamBatchMemOpParams op{};
  op.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  op.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  op.writeValue.address = reinterpret_cast<CUdeviceptr>(at);
  op.writeValue.value = value;
  return op;
}
CUstreamBatchMemOpParams wait_op(unsigned* at) {
  CUstreamBatchMemOpParams op{};
  op.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  op.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  op.waitValue.address = reinterpret_cast<CUdeviceptr>(at);
  op.waitValue.value = 1;
  op.waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
  return op;
}

struct Side {
  int device = 0;
  char* memory = nullptr;  // 4 parts of `most`
  char* peer = nullptr;
  unsigned* flag = nullptr;
  unsigned* peer_flag = nullptr;
  const unsigned* one = nullptr;
  cudaStream_t main = nullptr, other = nullptr;
  cudaEvent_t fork = nullptr, join = nullptr, begin = nullptr, end = nullptr;
  cudaGraphExec_t graph = nullptr;

  void put(std::size_t bytes, cudaStream_t stream, std::size_t at = 0) const {
    check(cudaMemcpyAsync(peer + most + at, memory + at, bytes, cudaMemcpyDeviceToDevice, stream),
          "put");
  }
  void kernel(cudaStream_t stream) const { empty_kernel<<<1, 32, 0, stream>>>(); }
  unsigned* mine(std::size_t slot) const { return flag + slot * flag_words; }
  unsigned* peers(std::size_t slot) const { return peer_flag + slot * flag_words; }
  void copy_flag(unsigned* to, cudaStream_t stream) const {
    check(cudaMemcpyAsync(to, one, sizeof(*to), cudaMemcpyDeviceToDevice, stream), "flag");
  }
  void memory_operations(Ops ops, cudaStream_t stream) const {
    const CUresult status =
        cuStreamBatchMemOp(stream, static_cast<unsigned>(ops.size()), ops.data(), 0);
    if (status == CUDA_SUCCESS) return;
    std::fprintf(stderr, "turns: cuStreamBatchMemOp: %d\n", static_cast<int>(status));
    std::exit(1);
  }
  void meet() const {
    meet_kernel<<<1, 1, 0, main>>>(peers(flag_of_meeting), mine(flag_of_meeting));
  }
  void take(std::size_t slot) const { take_kernel<<<1, 1, 0, main>>>(mine(slot)); }
  void after(cudaStream_t later, cudaStream_t earlier) const {
    check(cudaEventRecord(fork, earlier), "record");
    check(cudaStreamWaitEvent(later, fork, 0), "wait");
  }
};

using Pattern = std::function<void(const Side&)>;

Side make_side(int device) {
  Side side;
  side.device = device;
  check(cudaSetDevice(device), "device");
  check(cudaDeviceEnablePeerAccess(1 - device, 0), "peer access");
  check(cudaMalloc(&side.memory, 4 * most), "malloc");
  constexpr std::size_t flag_bytes = flags * flag_words * sizeof(unsigned);
  check(cudaMalloc(&side.flag, flag_bytes), "malloc");
  check(cudaMemset(side.flag, 0, flag_bytes), "memset");
  unsigned* one = nullptr;
  const unsigned value = 1;
  check(cudaMalloc(&one, 64), "malloc");
  check(cudaMemcpy(one, &value, sizeof(value), cudaMemcpyHostToDevice), "memcpy");
  side.one = one;
  for (cudaStream_t* stream : {&side.main, &side.other})
    check(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "stream");
  for (cudaEvent_t* event : {&side.fork, &side.join})
    check(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "event");
  check(cudaEventCreate(&side.begin), "event");
  check(cudaEventCreate(&side.end), "event");
  return side;
}

double time_us(std::vector<Side>& sides, const Pattern& pattern) {
  for (Side& side : sides) {
    check(cudaSetDevice(side.device), "device");
    cudaGraph_t graph = nullptr;
    check(cudaStreamBeginCapture(side.main, cudaStreamCaptureModeThreadLocal), "capture");
    for (int i = 0; i < calls; ++i) pattern(side);
    side.after(side.other, side.main);  // whether it has been forked or not
    side.after(side.main, side.other);
    check(cudaStreamEndCapture(side.main, &graph), "capture");
    check(cudaGraphInstantiate(&side.graph, graph, 0), "instantiate");
    check(cudaGraphDestroy(graph), "destroy");
  }
  std::vector<double> times;
  for (int repetition = 0; repetition < 8; ++repetition) {
    for (Side& side : sides) {
      check(cudaSetDevice(side.device), "device");
      check(cudaEventRecord(side.begin, side.main), "record");
      for (int i = 0; i < 3; ++i) check(cudaGraphLaunch(side.graph, side.main), "launch");
      check(cudaEventRecord(side.end, side.main), "record");
    }
    double slowest = 0;
    for (Side& side : sides) {
      check(cudaStreamSynchronize(side.main), "synchronize");
      float ms = 0;
      check(cudaEventElapsedTime(&ms, side.begin, side.end), "elapsed");
      slowest = std::max(slowest, 1e3 * static_cast<double>(ms) / 3 / calls);
    }
    if (repetition > 1) times.push_back(slowest);
  }
  for (Side& side : sides) check(cudaGraphExecDestroy(side.graph), "destroy");
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// A meeting, a copy to the peer, and flags that say to both that it has been made.
void say_flags(std::vector<Side>& sides, std::size_t bytes) {
  const auto say = [&](const char* name, const Pattern& pattern) {
    std::printf("%s; %zu bytes,%.2f\n", name, bytes, time_us(sides, pattern));
    std::fflush(stdout);
  };
  const auto fork_put = [bytes](const Side& s) {
    s.meet();
    s.after(s.other, s.main);
    s.put(bytes, s.other);
  };
  say("flags: copies; to the peer and to itself", [&](const Side& s) {
    fork_put(s);
    if (s.device == 0) s.copy_flag(s.mine(1), s.other);
    s.copy_flag(s.peers(2), s.other);
    if (s.device == 1) s.copy_flag(s.mine(1), s.other);
    s.take(1);
    s.take(2);
  });
  say("flags: a copy to the peer alone", [&](const Side& s) {
    fork_put(s);
    s.copy_flag(s.peers(2), s.other);
    s.take(2);
  });
  say("flags: a copy to the peer; and join", [&](const Side& s) {
    fork_put(s);
    s.copy_flag(s.peers(2), s.other);
    s.take(2);
    s.after(s.main, s.other);
  });
  say("flags: memory operations; to the peer and to itself", [&](const Side& s) {
    fork_put(s);
    s.memory_operations({write_op(s.mine(1), 1), write_op(s.peers(2), 1)}, s.other);
    s.take(1);
    s.take(2);
  });
  say("everything by memory operations of one stream", [&](const Side& s) {
    const auto meet = [&](std::size_t slot) {
      s.memory_operations(
          {write_op(s.peers(slot), 1), wait_op(s.mine(slot)), write_op(s.mine(slot), 0)}, s.main);
    };
    meet(flag_of_meeting);
    s.put(bytes, s.main);
    meet(2);
  });
}

}  // namespace

int main() {
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "device count");
  if (devices < 2) return 3;
  std::vector<Side> sides{make_side(0), make_side(1)};
  sides[0].peer = sides[1].memory;
  sides[1].peer = sides[0].memory;
  sides[0].peer_flag = sides[1].flag;
  sides[1].peer_flag = sides[0].flag;
  const auto say = [&](const char* name, const Pattern& pattern) {
    std::printf("%s,%.2f\n", name, time_us(sides, pattern));
    std::fflush(stdout);
  };
  constexpr std::size_t small = std::size_t{1} << 16, mega = std::size_t{1} << 20;
  const auto flag_put = [](const Side& s, cudaStream_t stream) {
    check(cudaMemcpyAsync(s.flag, s.one, sizeof(unsigned), cudaMemcpyDeviceToDevice, stream),
          "flag");
  };
  const auto local = [](const Side& s, int blocks, cudaStream_t stream) {
    copy_kernel<<<blocks, 512, 0, stream>>>(reinterpret_cast<uint4*>(s.memory + 3 * most),
                                            reinterpret_cast<const uint4*>(s.memory), most / 16);
  };
  std::printf("pattern,us\n");
  say("kernel", [](const Side& s) { s.kernel(s.main); });
  say("put 64K", [](const Side& s) { s.put(small, s.main); });
  say("put 64K twice", [](const Side& s) { s.put(small, s.main), s.put(small, s.main, mega); });
  say("kernel put 64K", [](const Side& s) { s.kernel(s.main), s.put(small, s.main); });
  say("put 64K and flag copy", [&](const Side& s) { s.put(small, s.main), flag_put(s, s.main); });
  say("fork: kernel; put 64K on another stream; join", [](const Side& s) {
    s.kernel(s.main);
    s.after(s.other, s.main);
    s.put(small, s.other);
    s.after(s.main, s.other);
  });
  say("fork: kernel; put 64K and flag copy; kernel takes the flag", [&](const Side& s) {
    s.kernel(s.main);
    s.after(s.other, s.main);
    s.put(small, s.other);
    flag_put(s, s.other);
    take_kernel<<<1, 32, 0, s.main>>>(s.flag);
  });
  say("put 128M", [](const Side& s) { s.put(most, s.main); });
  say("put 32M", [](const Side& s) { s.put(most / 4, s.main); });
  say("put 128M in 8 pieces", [](const Side& s) {
    for (int i = 0; i < 8; ++i) s.put(most / 8, s.main, i * (most / 8));
  });
  say("put 128M in halves on two streams", [](const Side& s) {
    s.after(s.other, s.main);
    s.put(most / 2, s.main);
    s.put(most / 2, s.other, most / 2);
    s.after(s.main, s.other);
  });
  say("put 128M beside a local copy of 128M by the engine", [](const Side& s) {
    s.after(s.other, s.main);
    s.put(most, s.main);
    check(cudaMemcpyAsync(s.memory + 3 * most, s.memory, most, cudaMemcpyDeviceToDevice, s.other),
          "local");
    s.after(s.main, s.other);
  });
  for (const int blocks : {8, 16, 64}) {
    char name[64];
    std::snprintf(name, sizeof(name), "put 128M beside a local copy by %d blocks", blocks);
    say(name, [&](const Side& s) {
      s.after(s.other, s.main);
      s.put(most, s.main);
      local(s, blocks, s.other);
      s.after(s.main, s.other);
    });
  }
  for (const std::size_t bytes : {small, mega, most / 4, most}) say_flags(sides, bytes);
  return 0;
}
