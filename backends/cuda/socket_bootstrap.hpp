// Bootstrap between processes, over TCP: a star with PE 0 in the middle. No CUDA in here.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/bootstrap.hpp"

namespace sym::cuda {

struct SocketAddress {
  std::string host = "127.0.0.1";  // a numeric IPv4 address or a name
  int port = 0;
};

// How to meet. Every PE of a job needs the same address and token.
struct SocketJob {
  int pe = 0;
  int n_pes = 1;
  SocketAddress root;      // where PE 0 listens
  int listen_fd = -1;      // PE 0: a socket that listens already, or -1
  std::string token;       // strangers and other jobs do not know it
  double deadline_s = 60;  // for each meeting, the first included; 0: none
};

class SocketBootstrap : public Bootstrap {
 public:
  // Connects to PE 0, or, on PE 0, accepts everyone. Throws Failure naming the PEs that did not
  // come.
  explicit SocketBootstrap(const SocketJob& job);
  ~SocketBootstrap() override;
  SocketBootstrap(const SocketBootstrap&) = delete;
  SocketBootstrap& operator=(const SocketBootstrap&) = delete;
  int pe() const override { return job_.pe; }
  int n_pes() const override { return job_.n_pes; }
  std::vector<std::string> all_gather(const std::string& mine) override;

 private:
  void accept_all();
  void connect_root();
  std::vector<std::string> gather_at_root(const std::string& mine);
  [[noreturn]] void fail_everyone(const std::string& why);

  SocketJob job_;
  std::vector<int> peers_;  // PE 0: a socket for each PE, -1 for itself; elsewhere one: PE 0's
};

// A listening socket on `host` and a port that the system picks; the port is stored in `port`. Not
// closed on exec.
int listen_anywhere(const std::string& host, int& port);

}  // namespace sym::cuda
