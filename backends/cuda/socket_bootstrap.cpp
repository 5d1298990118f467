#include "backends/cuda/socket_bootstrap.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "core/error.hpp"

namespace sym::cuda {

namespace {

using Clock = std::chrono::steady_clock;

// Frames: a kind byte, a length, bytes. `bad` carries why the sender gives up.
enum class Frame : std::uint8_t { data = 1, bad = 2 };
constexpr std::uint64_t longest_frame = std::uint64_t{1} << 28;

class Deadline {
 public:
  explicit Deadline(double seconds)
      : none_(seconds <= 0),
        at_(Clock::now() +
            std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}
  // Milliseconds left for poll(): -1 for ever, 0 expired.
  int left_ms() const {
    if (none_) return -1;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(at_ - Clock::now()).count();
    return left <= 0 ? 0 : static_cast<int>(left > 1000000 ? 1000000 : left);
  }
  bool expired() const { return left_ms() == 0; }

 private:
  bool none_;
  Clock::time_point at_;
};

std::string system_error(const std::string& what) { return what + ": " + std::strerror(errno); }

bool wait_for(int fd, short events, const Deadline& deadline) {
  for (;;) {
    pollfd entry{fd, events, 0};
    const int ready = poll(&entry, 1, deadline.left_ms());
    if (ready > 0) return true;
    if (ready == 0 && deadline.expired()) return false;
    if (ready < 0 && errno != EINTR) return false;
  }
}

// False if the other end has gone or the deadline has passed.
bool send_bytes(int fd, const void* data, std::size_t size, const Deadline& deadline) {
  const char* next = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t sent = ::send(fd, next, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      next += sent;
      size -= static_cast<std::size_t>(sent);
    } else if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
      if (!wait_for(fd, POLLOUT, deadline)) return false;
    } else {
      return false;
    }
  }
  return true;
}

bool receive_bytes(int fd, void* data, std::size_t size, const Deadline& deadline) {
  char* next = static_cast<char*>(data);
  while (size > 0) {
    if (!wait_for(fd, POLLIN, deadline)) return false;
    const ssize_t got = ::recv(fd, next, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    next += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool send_frame(int fd, Frame kind, const std::string& text, const Deadline& deadline) {
  const std::uint64_t size = text.size();
  std::string bytes(1 + sizeof(size), '\0');
  bytes[0] = static_cast<char>(kind);
  std::memcpy(&bytes[1], &size, sizeof(size));
  bytes += text;
  return send_bytes(fd, bytes.data(), bytes.size(), deadline);
}

bool receive_frame(int fd, Frame& kind, std::string& text, const Deadline& deadline,
                   std::uint64_t longest = longest_frame) {
  char head[1 + sizeof(std::uint64_t)];
  if (!receive_bytes(fd, head, sizeof(head), deadline)) return false;
  std::uint64_t size = 0;
  std::memcpy(&size, head + 1, sizeof(size));
  if (size > longest) return false;
  kind = static_cast<Frame>(head[0]);
  text.assign(size, '\0');
  return receive_bytes(fd, text.data(), size, deadline);
}

// Strings to one and back.
std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    const std::uint64_t size = part.size();
    text.append(reinterpret_cast<const char*>(&size), sizeof(size));
    text += part;
  }
  return text;
}
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  while (at + sizeof(std::uint64_t) <= text.size()) {
    std::uint64_t size = 0;
    std::memcpy(&size, text.data() + at, sizeof(size));
    at += sizeof(size);
    parts.push_back(text.substr(at, size));
    at += size;
  }
  return parts;
}

sockaddr_in resolve(const SocketAddress& address) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_port = htons(static_cast<std::uint16_t>(address.port));
  if (inet_pton(AF_INET, address.host.c_str(), &result.sin_addr) == 1) return result;
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.host.c_str(), nullptr, &hints, &found) != 0 || found == nullptr) {
    throw UsageError("the bootstrap address '" + address.host +
                     "' is no IPv4 address and no known host name");
  }
  std::memcpy(&result.sin_addr, &reinterpret_cast<const sockaddr_in*>(found->ai_addr)->sin_addr,
              sizeof(result.sin_addr));
  freeaddrinfo(found);
  return result;
}

int listen_at(const SocketAddress& address) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0) throw Failure(system_error("no socket for the bootstrap"));
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in where = resolve(address);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&where), sizeof(where)) != 0 ||
      ::listen(fd, 4096) != 0) {
    const std::string why = system_error("the bootstrap cannot listen on " + address.host + ":" +
                                         std::to_string(address.port));
    close(fd);
    throw Failure(why);
  }
  return fd;
}

void no_delay(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

// Compares every byte, so that the time says nothing of the token.
bool same_token(const std::string& a, const std::string& b) {
  unsigned char different = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    different = static_cast<unsigned char>(
        different | (static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i])));
  }
  return different == 0;
}

}  // namespace

int listen_anywhere(const std::string& host, int& port) {
  const int fd = listen_at(SocketAddress{host, 0});
  sockaddr_in where{};
  socklen_t size = sizeof(where);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&where), &size) != 0) {
    close(fd);
    throw Failure(system_error("the bootstrap's port cannot be read"));
  }
  port = ntohs(where.sin_port);
  return fd;
}

SocketBootstrap::SocketBootstrap(const SocketJob& job) : job_(job) {
  if (job_.n_pes < 1 || job_.pe < 0 || job_.pe >= job_.n_pes) {
    throw UsageError("PE " + std::to_string(job_.pe) + " of " + std::to_string(job_.n_pes) +
                     " does not exist");
  }
  if (job_.pe == 0) {
    accept_all();
  } else {
    connect_root();
  }
}

SocketBootstrap::~SocketBootstrap() {
  for (const int fd : peers_) {
    if (fd >= 0) close(fd);
  }
}

void SocketBootstrap::accept_all() {
  peers_.assign(static_cast<std::size_t>(job_.n_pes), -1);
  if (job_.n_pes == 1 && job_.listen_fd < 0) return;
  const int listener = job_.listen_fd >= 0 ? job_.listen_fd : listen_at(job_.root);
  const Deadline deadline(job_.deadline_s);
  for (int here = 1; here < job_.n_pes;) {
    if (!wait_for(listener, POLLIN, deadline)) break;
    const int fd = accept(listener, nullptr, nullptr);
    if (fd < 0) continue;
    no_delay(fd);
    // A stranger may say nothing: it gets two seconds, the job's own PEs answer at once.
    Frame kind{};
    std::string hello;
    const Deadline patience(2);
    const bool heard = receive_frame(fd, kind, hello, patience, 4096);
    const std::vector<std::string> words = heard ? split(hello) : std::vector<std::string>();
    const int pe =
        words.size() == 3 && same_token(words[0], job_.token) ? std::atoi(words[1].c_str()) : -1;
    const bool agrees = pe > 0 && pe < job_.n_pes && words[2] == std::to_string(job_.n_pes);
    if (!agrees || peers_[static_cast<std::size_t>(pe)] >= 0) {
      const std::string why =
          pe < 0   ? "PE 0 refuses the connection: wrong token (another job on this port?)"
          : agrees ? "PE " + words[1] + " is there already"
                   : "PE 0 counts " + std::to_string(job_.n_pes) + " PEs, PE " + words[1] +
                         " counts " + words[2];
      (void)send_frame(fd, Frame::bad, why, patience);
      close(fd);
      continue;
    }
    peers_[static_cast<std::size_t>(pe)] = fd;
    ++here;
  }
  close(listener);
  std::string missing;
  for (int pe = 1; pe < job_.n_pes; ++pe) {
    if (peers_[static_cast<std::size_t>(pe)] < 0)
      missing += (missing.empty() ? "" : ", ") + std::to_string(pe);
  }
  if (!missing.empty()) {
    fail_everyone("PE 0 waited " + std::to_string(job_.deadline_s) +
                  " s for PEs that did not connect: " + missing +
                  " (SYM_BOOTSTRAP_S sets the limit)");
  }
  for (const int fd : peers_) {
    if (fd >= 0) (void)send_frame(fd, Frame::data, "", deadline);
  }
}

void SocketBootstrap::connect_root() {
  const Deadline deadline(job_.deadline_s);
  const sockaddr_in where = resolve(job_.root);
  int fd = -1;
  for (;;) {
    fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0) throw Failure(system_error("no socket for the bootstrap"));
    if (connect(fd, reinterpret_cast<const sockaddr*>(&where), sizeof(where)) == 0) break;
    close(fd);
    if (deadline.expired()) {
      throw Failure("PE " + std::to_string(job_.pe) + " cannot reach PE 0 at " + job_.root.host +
                    ":" + std::to_string(job_.root.port) + " within " +
                    std::to_string(job_.deadline_s) + " s");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  no_delay(fd);
  peers_.assign(1, fd);
  const std::string hello = join({job_.token, std::to_string(job_.pe), std::to_string(job_.n_pes)});
  Frame kind{};
  std::string answer;
  const Deadline patience(job_.deadline_s <= 0 ? 0
                                               : job_.deadline_s + 5);  // PE 0 names who is missing
  if (!send_frame(fd, Frame::data, hello, deadline) || !receive_frame(fd, kind, answer, patience)) {
    throw Failure("PE 0 did not let PE " + std::to_string(job_.pe) +
                  " in: it has gone or waits for others");
  }
  if (kind == Frame::bad) throw Failure(answer);
}

void SocketBootstrap::fail_everyone(const std::string& why) {
  const Deadline patience(1);
  for (const int fd : peers_) {
    if (fd >= 0) (void)send_frame(fd, Frame::bad, why, patience);
  }
  throw Failure(why);
}

std::vector<std::string> SocketBootstrap::gather_at_root(const std::string& mine) {
  const Deadline deadline(job_.deadline_s);
  std::vector<std::string> all(static_cast<std::size_t>(job_.n_pes));
  all[0] = mine;
  std::string missing;
  for (std::size_t pe = 1; pe < all.size(); ++pe) {
    Frame kind{};
    if (receive_frame(peers_[pe], kind, all[pe], deadline)) continue;
    missing += (missing.empty() ? "" : ", ") + std::to_string(pe);
  }
  if (!missing.empty()) {
    fail_everyone(
        "the host meeting of all PEs lacks PE " + missing +
        ": ended, or late by more than SYM_BOOTSTRAP_S = " + std::to_string(job_.deadline_s));
  }
  const std::string packed = join(all);
  for (std::size_t pe = 1; pe < all.size(); ++pe) {
    if (!send_frame(peers_[pe], Frame::data, packed, deadline)) {
      fail_everyone("PE " + std::to_string(pe) + " has left the host meeting");
    }
  }
  return all;
}

std::vector<std::string> SocketBootstrap::all_gather(const std::string& mine) {
  if (job_.pe == 0) return gather_at_root(mine);
  const Deadline patience(job_.deadline_s <= 0 ? 0 : job_.deadline_s + 5);
  Frame kind{};
  std::string answer;
  if (!send_frame(peers_[0], Frame::data, mine, patience) ||
      !receive_frame(peers_[0], kind, answer, patience)) {
    throw Failure("PE 0 has left the host meeting (seen by PE " + std::to_string(job_.pe) + ")");
  }
  if (kind == Frame::bad) throw Failure(answer);
  return split(answer);
}

}  // namespace sym::cuda
