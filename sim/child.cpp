#include "sim/child.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "core/error.hpp"

namespace sym::sim {

namespace {

// The first byte of what a child sends says what the rest is.
enum Kind : char { result = 'r', usage = 'u', failure = 'f', unavailable = 'n' };

std::string marked(Kind kind, const std::string& text) {
  std::string all;
  all.push_back(kind);
  all.append(text);
  return all;
}

std::string guarded(const std::function<std::string()>& body) {
  try {
    return marked(result, body());
  } catch (const UsageError& error) {
    return marked(usage, error.what());
  } catch (const std::invalid_argument& error) {
    return marked(usage, error.what());
  } catch (const Unavailable& error) {
    return marked(unavailable, error.what());
  } catch (const std::exception& error) {
    return marked(failure, error.what());
  }
}

void send_all(int descriptor, const std::string& text) {
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t n = write(descriptor, text.data() + sent, text.size() - sent);
    if (n <= 0) _exit(70);
    sent += static_cast<std::size_t>(n);
  }
}

std::string receive_all(int descriptor) {
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t n = read(descriptor, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
  }
}

}  // namespace

Child::Child(const std::function<std::string()>& body) {
  int ends[2];
  if (pipe(ends) != 0)
    throw Failure(std::string("no pipe for a simulated point: ") + std::strerror(errno));
  std::fflush(nullptr);  // or the child would print our buffered output again
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ < 0)
    throw Failure(std::string("no process for a simulated point: ") + std::strerror(errno));
  if (process_ == 0) {
    close(ends[0]);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(70);
    send_all(ends[1], guarded(body));
    std::fflush(nullptr);
    _exit(0);  // no destructors of the parent's objects
  }
  close(ends[1]);
  answer_ = ends[0];
}

Child::Child(Child&& other) noexcept
    : answer_(std::exchange(other.answer_, -1)), process_(std::exchange(other.process_, -1)) {}

Child::~Child() {
  if (process_ <= 0) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  close(answer_);
}

std::string Child::finish() {
  const std::string answer = receive_all(answer_);
  close(answer_);
  int status = 0;
  waitpid(std::exchange(process_, -1), &status, 0);
  if (WIFSIGNALED(status)) {
    throw Failure(std::string("a simulated point died of signal ") + strsignal(WTERMSIG(status)));
  }
  if (answer.empty()) throw Failure("a simulated point ended without an answer");
  std::string text = answer.substr(1);
  switch (answer[0]) {
    case result:
      return text;
    case usage:
      throw UsageError(text);
    case unavailable:
      throw Unavailable(text);
    default:
      throw Failure(text);
  }
}

}  // namespace sym::sim
