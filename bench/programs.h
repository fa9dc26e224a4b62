// Programs that a benchmark starts, what they say, and the ports at which they answer.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "bench/bench.h"
#include "bench/folder.h"

namespace sluice::bench {

constexpr double kDeadline_s = 60;

inline std::vector<char*> c_words(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// A program, found on PATH, and what it says on stdout. Whoever waits for it to be ready waits for its words: to ask
// again and again would take from it, on a busy machine, the time that is measured.
struct Started {
  pid_t pid = 0;
  int said = -1;
};
inline Started start(const std::vector<std::string>& words, const std::vector<std::string>& variables) {
  std::vector<std::string> environment = {"PATH=" + std::string(std::getenv("PATH")), "LANG=C.UTF-8"};
  environment.insert(environment.end(), variables.begin(), variables.end());
  int ends[2];
  must(::pipe2(ends, O_CLOEXEC) == 0, "there is no pipe");
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  int failed =
      ::posix_spawnp(&pid, words[0].c_str(), &files, nullptr, c_words(words).data(), c_words(environment).data());
  posix_spawn_file_actions_destroy(&files);
  ::close(ends[1]);
  must(failed == 0, "cannot start " + words[0]);
  return {pid, ends[0]};
}

// The rest of the line in which it says these words.
inline std::string said_after(const Started& program, std::string_view words) {
  std::string text;
  char piece[512];
  for (;;) {
    size_t at = text.find(words);
    size_t end = at == std::string::npos ? at : text.find('\n', at);
    if (end != std::string::npos) return text.substr(at + words.size(), end - at - words.size());
    ssize_t got = ::read(program.said, piece, sizeof piece);
    must(got > 0, "it has ended without \"" + std::string(words) + "\": " + text);
    text.append(piece, static_cast<size_t>(got));
  }
}

// Its exit status, once it has said all.
inline int ended(const Started& program) {
  char piece[512];
  while (::read(program.said, piece, sizeof piece) > 0) {
  }
  ::close(program.said);
  int status = 0;
  must(::waitpid(program.pid, &status, 0) > 0, "it is not there any more");
  return status;
}

inline int connected(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return client;
  ::close(client);
  return -1;
}

inline bool answers_200(uint16_t port) {
  int client = connected(port);
  if (client < 0) return false;
  const std::string request = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
  must(::write(client, request.data(), request.size()) == static_cast<ssize_t>(request.size()), "cannot ask");
  char answer[16] = {};
  ssize_t got = ::read(client, answer, sizeof answer - 1);
  ::close(client);
  return got > 0 && std::string_view(answer).starts_with("HTTP/1.1 200");
}

inline void await_200(uint16_t port) {
  const double end_s = wall_s() + kDeadline_s;
  while (!answers_200(port)) {
    must(wall_s() < end_s, "nobody answers at port " + std::to_string(port));
    ::usleep(5'000);
  }
}

inline uint16_t free_port() {
  int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  must(::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0, "there is no port");
  must(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0, "there is no port");
  ::close(socket);
  return ntohs(address.sin_port);
}

inline double median_ms(std::vector<double> times_s) {
  std::nth_element(times_s.begin(), times_s.begin() + static_cast<ptrdiff_t>(times_s.size() / 2), times_s.end());
  return times_s[times_s.size() / 2] * 1000;
}

}  // namespace sluice::bench
