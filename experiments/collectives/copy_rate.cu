// What the copy engines of two GPUs move, one way and both ways at once: the rate that collectives
// are held against. Prints bytes, direction and GB/s of each direction, as CSV. One process, peer
// access.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "copy_rate: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(status == cudaErrorNoDevice ? 3 : 1);
}

struct Side {
  int device = 0;
  char* memory = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
};

constexpr std::size_t most = std::size_t{1} << 28;

Side make_side(int device) {
  Side side;
  side.device = device;
  check(cudaSetDevice(device), "cudaSetDevice");
  check(cudaDeviceEnablePeerAccess(1 - device, 0), "cudaDeviceEnablePeerAccess");
  check(cudaMalloc(&side.memory, 2 * most), "cudaMalloc");
  check(cudaStreamCreateWithFlags(&side.stream, cudaStreamNonBlocking), "cudaStreamCreate");
  check(cudaEventCreate(&side.begin), "cudaEventCreate");
  check(cudaEventCreate(&side.end), "cudaEventCreate");
  return side;
}

// Median microseconds of a push of so many bytes by the slower of the sides that take part.
double push_us(const std::vector<Side>& sides, const Side* const peers[], std::size_t bytes) {
  constexpr int copies = 8;
  std::vector<double> times;
  for (int repetition = 0; repetition < 9; ++repetition) {
    for (std::size_t i = 0; i < sides.size(); ++i) {
      check(cudaSetDevice(sides[i].device), "cudaSetDevice");
      check(cudaEventRecord(sides[i].begin, sides[i].stream), "cudaEventRecord");
      for (int k = 0; k < copies; ++k) {
        check(cudaMemcpyAsync(peers[i]->memory + most, sides[i].memory, bytes,
                              cudaMemcpyDeviceToDevice, sides[i].stream),
              "cudaMemcpyAsync");
      }
      check(cudaEventRecord(sides[i].end, sides[i].stream), "cudaEventRecord");
    }
    double slowest = 0;
    for (const Side& side : sides) {
      check(cudaStreamSynchronize(side.stream), "cudaStreamSynchronize");
      float ms = 0;
      check(cudaEventElapsedTime(&ms, side.begin, side.end), "cudaEventElapsedTime");
      slowest = std::max(slowest, 1e3 * static_cast<double>(ms) / copies);
    }
    if (repetition > 1) times.push_back(slowest);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main() {
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  if (devices < 2) {
    std::fprintf(stderr, "copy_rate: two GPUs are needed, %d are here\n", devices);
    return 3;
  }
  const Side first = make_side(0);
  const Side second = make_side(1);
  const Side* const peers[] = {&second, &first};
  std::printf("bytes,directions,us,gbps\n");
  for (std::size_t bytes = std::size_t{1} << 20; bytes <= most; bytes *= 4) {
    const double one_us = push_us({first}, peers, bytes);
    const double both_us = push_us({first, second}, peers, bytes);
    const double kilo = static_cast<double>(bytes) * 1e-3;
    std::printf("%zu,1,%.2f,%.1f\n%zu,2,%.2f,%.1f\n", bytes, one_us, kilo / one_us, bytes, both_us,
                kilo / both_us);
  }
  return 0;
}
