// How PEs meet on the host: threads of one process, and sockets with a token.
#include <gmock/gmock.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "backends/cuda/socket_bootstrap.hpp"
#include "backends/cuda/thread_bootstrap.hpp"
#include "core/error.hpp"

namespace sym::cuda {
namespace {

using testing::HasSubstr;

// Runs `body(pe)` on threads; returns what each threw ("" if nothing).
std::vector<std::string> on_threads(int pes, const std::function<void(int)>& body) {
  std::vector<std::string> errors(static_cast<std::size_t>(pes));
  std::vector<std::jthread> threads;
  for (int pe = 0; pe < pes; ++pe) {
    threads.emplace_back([&, pe] {
      try {
        body(pe);
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(pe)] = error.what();
      }
    });
  }
  threads.clear();
  return errors;
}

void gather_rounds(Bootstrap& bootstrap) {
  for (int round = 0; round < 30; ++round) {
    // Of all sizes, empty ones too.
    const auto text = [&](int pe) {
      return std::string(static_cast<std::size_t>((round * 7 + pe * 13) % 50),
                         static_cast<char>('a' + pe));
    };
    const auto all = bootstrap.all_gather(text(bootstrap.pe()));
    if (all.size() != static_cast<std::size_t>(bootstrap.n_pes())) throw Failure("size");
    for (int pe = 0; pe < bootstrap.n_pes(); ++pe) {
      if (all[static_cast<std::size_t>(pe)] != text(pe))
        throw Failure("round " + std::to_string(round));
    }
    bootstrap.barrier();
  }
}

TEST(ThreadBootstrap, Gathers) {
  ThreadMeeting meeting(5, 20);
  for (const std::string& error : on_threads(5, [&](int pe) {
         ThreadBootstrap bootstrap(meeting, pe);
         gather_rounds(bootstrap);
       })) {
    EXPECT_EQ(error, "");
  }
}

TEST(ThreadBootstrap, NamesWhoDidNotComeAndWhoDiffers) {
  ThreadMeeting meeting(3, 0.2);
  const auto late = on_threads(3, [&](int pe) {
    ThreadBootstrap bootstrap(meeting, pe);
    if (pe != 2) bootstrap.barrier();
  });
  EXPECT_THAT(late[0] + late[1], HasSubstr("did not come: 2"));
  ThreadMeeting other(3, 20);
  const auto differing = on_threads(3, [&](int pe) {
    ThreadBootstrap bootstrap(other, pe);
    require_equal(bootstrap, "count", std::to_string(pe == 1 ? 7 : 5));
  });
  for (const std::string& text : differing) EXPECT_THAT(text, HasSubstr("PE 1 has count 7"));
  other.abandon("PE 2 has gone");
  ThreadBootstrap bootstrap(other, 0);
  EXPECT_THROW(bootstrap.barrier(), Failure);
}

SocketJob job_of(int pe, int pes, int port, int listen_fd, double deadline_s = 20) {
  SocketJob job;
  job.pe = pe;
  job.n_pes = pes;
  job.root.port = port;
  job.listen_fd = pe == 0 ? listen_fd : -1;
  job.token = "secret";
  job.deadline_s = deadline_s;
  return job;
}

TEST(SocketBootstrap, Gathers) {
  int port = 0;
  const int fd = listen_anywhere("127.0.0.1", port);
  for (const std::string& error : on_threads(4, [&](int pe) {
         SocketBootstrap bootstrap(job_of(pe, 4, port, fd));
         gather_rounds(bootstrap);
       })) {
    EXPECT_EQ(error, "");
  }
}

TEST(SocketBootstrap, NamesWhoDidNotCome) {
  int port = 0;
  const int fd = listen_anywhere("127.0.0.1", port);
  const auto errors = on_threads(3, [&](int pe) {
    if (pe != 2) SocketBootstrap bootstrap(job_of(pe, 3, port, fd, 0.5));
  });
  EXPECT_THAT(errors[0], HasSubstr("2"));
  EXPECT_NE(errors[1], "");
}

TEST(SocketBootstrap, AStrangerWithoutTheTokenIsNotLetIn) {
  int port = 0;
  const int fd = listen_anywhere("127.0.0.1", port);
  const auto errors = on_threads(3, [&](int pe) {
    if (pe == 2) {  // claims to be PE 1, before the real one
      SocketJob job = job_of(1, 2, port, fd, 1);
      job.token = "guess";
      SocketBootstrap bootstrap(job);
      bootstrap.barrier();
      return;
    }
    if (pe == 1) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    SocketBootstrap bootstrap(job_of(pe, 2, port, fd));
    gather_rounds(bootstrap);
  });
  EXPECT_EQ(errors[0], "");
  EXPECT_EQ(errors[1], "");
  EXPECT_NE(errors[2], "");
}

TEST(SocketBootstrap, APeThatDiesIsNoticed) {
  int port = 0;
  const int fd = listen_anywhere("127.0.0.1", port);
  const auto errors = on_threads(3, [&](int pe) {
    SocketBootstrap bootstrap(job_of(pe, 3, port, fd, 5));
    bootstrap.barrier();
    if (pe == 1) return;  // its sockets close
    bootstrap.barrier();
  });
  EXPECT_THAT(errors[0], HasSubstr("1"));
  EXPECT_EQ(errors[1], "");
  EXPECT_NE(errors[2], "");
}

}  // namespace
}  // namespace sym::cuda
