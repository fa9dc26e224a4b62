/* A small web server for the tests' images. It has no libraries, so an image of it is FROM scratch. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int has(const char* request, const char* path) {
  size_t length = strlen(path);
  return strncmp(request, "GET ", 4) == 0 && strncmp(request + 4, path, length) == 0 &&
         (request[4 + length] == ' ' || request[4 + length] == '?');
}

static void file_into(char* text, size_t size, const char* path) {
  int fd = open(path, O_RDONLY);
  ssize_t got = fd < 0 ? -1 : read(fd, text, size - 1);
  text[got < 0 ? 0 : got] = 0;
  if (fd >= 0) close(fd);
}

static const char* variable(const char* name) { return getenv(name) ? getenv(name) : ""; }

/* Writes a file and says whether that went. */
static void try_write(char* text, size_t size, const char* folder) {
  char path[512];
  snprintf(path, sizeof path, "%s/probe", folder);
  int fd = open(path, O_WRONLY | O_CREAT, 0600);
  snprintf(text, size, "%s", fd >= 0 && write(fd, "x", 1) == 1 ? "written" : "refused");
  if (fd >= 0) close(fd);
}

/* Whether ADDRESS:PORT of the query can be connected to. */
static void try_connect(char* text, size_t size, const char* request) {
  char address[64] = "";
  int port = 0;
  sscanf(strchr(request, '?') ? strchr(request, '?') : "", "?%63[0-9.]:%d", address, &port);
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  inet_pton(AF_INET, address, &to.sin_addr);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct timeval patience = {.tv_sec = 2};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  snprintf(text, size, "%s", connect(fd, (struct sockaddr*)&to, sizeof to) == 0 ? "reached" : "unreachable");
  close(fd);
}

static void* serve(void* given) {
  int fd = (int)(long)given;
  char request[4096], body[8192];
  for (;;) {
    size_t got = 0;
    request[0] = 0;
    while (strstr(request, "\r\n\r\n") == NULL) {
      ssize_t more = got < sizeof request - 1 ? read(fd, request + got, sizeof request - 1 - got) : 0;
      if (more <= 0) {
        close(fd);
        return NULL;
      }
      got += (size_t)more;
      request[got] = 0;
    }
    snprintf(body, sizeof body, "%s\n", VERSION);
    if (has(request, "/status")) file_into(body, sizeof body, "/proc/self/status");
    if (has(request, "/limits")) file_into(body, sizeof body, "/proc/self/limits");
    if (has(request, "/mounts")) file_into(body, sizeof body, "/proc/self/mounts");
    if (has(request, "/config")) file_into(body, sizeof body, variable("SLUICE_CONFIG"));
    if (has(request, "/secret")) {
      if (variable("API_KEY")[0] == '/') {
        file_into(body, sizeof body, variable("API_KEY"));
      } else {
        snprintf(body, sizeof body, "%s", variable("API_KEY"));
      }
    }
    if (has(request, "/write-root")) try_write(body, sizeof body, "");
    if (has(request, "/write-tmp")) try_write(body, sizeof body, "/tmp");
    if (has(request, "/write-storage")) try_write(body, sizeof body, variable("SLUICE_STORAGE_DATA"));
    if (has(request, "/connect")) try_connect(body, sizeof body, request);
    if (has(request, "/crash")) _exit(3);
    if (has(request, "/slow")) sleep(1);
    char head[256];
    snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n\r\n",
             strlen(body));
    if (write(fd, head, strlen(head)) < 0 || write(fd, body, strlen(body)) < 0) {
      close(fd);
      return NULL;
    }
  }
}

static void* count(void* unused) {
  for (int i = 1;; ++i) {
    dprintf(1, "line %d\n", i);
    usleep(10000);
  }
  return unused;
}

static unsigned linger_s;

static void end(int number) {
  dprintf(2, "ends by signal %d\n", number);
  sleep(linger_s);
  _exit(0);
}

int main(int words, char** word) {
  const char* how = words > 1 ? word[1] : "";
  signal(SIGPIPE, SIG_IGN);
  signal(SIGTERM, end);
  signal(SIGHUP, SIG_IGN);
  if (strcmp(how, "fail") == 0) {
    dprintf(2, "cannot go on\n");
    return 7;
  }
  if (strcmp(how, "check") == 0) return getpid() == 1; /* beside the program, never in its place */
  if (strcmp(how, "print") == 0) return printf("%s %s\n", variable("API_KEY"), variable("SLUICE_REVISION")) < 0;
  if (strcmp(how, "hang") == 0) {
    for (;;) pause();
  }
  if (strcmp(how, "eat") == 0) {
    for (;;) memset(malloc(1 << 20), 1, 1 << 20);
  }
  pthread_t thread;
  if (strcmp(how, "linger") == 0) linger_s = 1;
  if (strcmp(how, "count") == 0 || linger_s > 0) pthread_create(&thread, NULL, count, NULL);
  int fd;
  if (getenv("SLUICE_SOCKET")) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s", getenv("SLUICE_SOCKET"));
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(fd, (struct sockaddr*)&at, sizeof at) != 0) return 9;
    chmod(at.sun_path, 0777);
  } else {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(
                                                        getenv("PORT") ? getenv("PORT") : "8080"))};
    fd = socket(AF_INET, SOCK_STREAM, 0);
    int yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr*)&at, sizeof at) != 0) return 9;
  }
  if (listen(fd, 128) != 0) return 9;
  dprintf(1, "%s listens\n", VERSION);
  for (;;) {
    int one = accept(fd, NULL, NULL);
    if (one < 0) continue;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &small, serve, (void*)(long)one) != 0) close(one);
  }
}
