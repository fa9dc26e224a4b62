/* Answers every request with a line. Docker and podman stop a container by SIGTERM, which its first process must want to
   hear. */
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 19\r\nConnection: close\r\n\r\nhello from an image";

static void end(int number) { _exit(number == SIGTERM ? 0 : 1); }

int main(void) {
  signal(SIGTERM, end);
  signal(SIGPIPE, SIG_IGN);
  const char* port = getenv("PORT");
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(port ? port : "8080"))};
  int listening = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
  setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(listening, (struct sockaddr*)&at, sizeof at) != 0 || listen(listening, 128) != 0) return 1;
  for (;;) {
    char request[4096];
    int one = accept(listening, NULL, NULL);
    if (one < 0) continue;
    if (read(one, request, sizeof request) > 0) (void)!write(one, answer, strlen(answer));
    close(one);
  }
}
