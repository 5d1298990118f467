#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "backends/cuda/placement.hpp"
#include "core/error.hpp"

namespace sym::cuda {

namespace {

using Clock = std::chrono::steady_clock;

std::string fresh_token() {
  std::random_device device;
  std::string token;
  for (int i = 0; i < 4; ++i) token += std::to_string(device()) + "-";
  return token;
}

void set_variable(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

// In the child: becomes PE `pe`. Does not return.
[[noreturn]] void become(int pe, int pes, pid_t parent, int listen_fd, const std::string& root,
                         const std::string& token, char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // the parent died before the line above
  set_variable("SYM_SPAWNED", "1");
  set_variable("SYM_RANK", std::to_string(pe));
  set_variable("SYM_SIZE", std::to_string(pes));
  set_variable("SYM_LOCAL_RANK", std::to_string(pe));
  set_variable("SYM_ROOT", root);
  set_variable("SYM_TOKEN", token);
  if (pe == 0) {
    set_variable("SYM_LISTEN_FD", std::to_string(listen_fd));
  } else {
    close(listen_fd);
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
  }
  execv("/proc/self/exe", argv);
  const char message[] = "sym: cannot run /proc/self/exe again\n";
  (void)!write(STDERR_FILENO, message, sizeof(message) - 1);
  _exit(127);
}

int exit_status(int wait_status) {
  if (WIFEXITED(wait_status)) return WEXITSTATUS(wait_status);
  return 128 + (WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0);
}

void end_all(const std::vector<pid_t>& children, int signal) {
  for (const pid_t child : children) {
    if (child > 0) kill(child, signal);
  }
}

// Waits for every child; once one has failed, the others have `grace_s` seconds before SIGTERM and
// two more before SIGKILL.
int wait_for_all(std::vector<pid_t> children, double grace_s) {
  int status = 0;
  std::size_t left = children.size();
  Clock::time_point failed_at;
  bool asked = false;
  while (left > 0) {
    bool reaped = false;
    for (pid_t& child : children) {
      int wait_status = 0;
      if (child <= 0 || waitpid(child, &wait_status, WNOHANG) != child) continue;
      child = 0;
      --left;
      reaped = true;
      const int ended = exit_status(wait_status);
      if (ended == 0 || status != 0) continue;
      status = ended;
      failed_at = Clock::now();
    }
    if (reaped || left == 0) continue;
    const double late_s = std::chrono::duration<double>(Clock::now() - failed_at).count();
    if (status != 0 && late_s > grace_s && !asked) {
      asked = true;
      end_all(children, SIGTERM);
    }
    if (status != 0 && late_s > grace_s + 2) end_all(children, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return status;
}

}  // namespace

int spawn_pes(int pes, char** argv, double grace_s) {
  if (pes < 1) throw UsageError("cannot start " + std::to_string(pes) + " PEs");
  int port = 0;
  const int listen_fd = listen_anywhere("127.0.0.1", port);
  const std::string root = "127.0.0.1:" + std::to_string(port);
  const std::string token = fresh_token();
  const pid_t parent = getpid();
  std::vector<pid_t> children;
  for (int pe = 0; pe < pes; ++pe) {
    const pid_t child = fork();
    if (child == 0) become(pe, pes, parent, listen_fd, root, token, argv);
    if (child < 0) {
      const std::string why = std::strerror(errno);
      end_all(children, SIGKILL);
      (void)wait_for_all(children, 0);
      close(listen_fd);
      throw Unavailable("cannot start PE " + std::to_string(pe) + ": " + why);
    }
    children.push_back(child);
  }
  close(listen_fd);
  return wait_for_all(children, grace_s);
}

}  // namespace sym::cuda
