// The bundle hello in C++, to show `build:`: answers every request with its version, on the Unix socket that it is
// given.
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr size_t kMostHeadBytes = 16 << 10;

// Reads one request, which has no body, and answers it.
void serve(int connection) {
  std::string head;
  char chunk[4096];
  while (head.find("\r\n\r\n") == std::string::npos && head.size() < kMostHeadBytes) {
    ssize_t got = read(connection, chunk, sizeof chunk);
    if (got <= 0) return;
    head.append(chunk, static_cast<size_t>(got));
  }
  const bool known = head.starts_with("GET / ") || head.starts_with("GET /health ");
  const std::string body = known ? "hello 3.0.0\n" : "not found\n";
  const std::string answer =
      std::string("HTTP/1.1 ") + (known ? "200 OK" : "404 Not Found") +
      "\r\nConnection: close\r\nX-Hello-Version: 3.0.0\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
      body;
  (void)!write(connection, answer.data(), answer.size());
}

}  // namespace

int main() {
  signal(SIGPIPE, SIG_IGN);
  const char* path = std::getenv("SLUICE_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path == nullptr || std::strlen(path) >= sizeof address.sun_path) {
    std::fputs("hello: SLUICE_SOCKET is not the path of a socket\n", stderr);
    return 1;
  }
  std::strcpy(address.sun_path, path);
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(listener, 128) != 0) {
    std::perror("hello");
    return 1;
  }
  for (;;) {
    int connection = accept(listener, nullptr, nullptr);
    if (connection < 0) continue;
    serve(connection);
    close(connection);
  }
}
