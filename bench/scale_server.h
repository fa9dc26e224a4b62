// A PostgreSQL of a benchmark's own (Debian's, with fsync), as the user postgres where root runs it; removed at the
// end.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "bench/folder.h"
#include "bench/programs.h"

namespace sluice::bench {

inline void shell(const std::string& command) {
  const std::string path = "export PATH=\"$PATH:$(echo /usr/lib/postgresql/*/bin)\"; ";
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread starts programs
  must(std::system((path + "{ " + command + "; } >/dev/null 2>&1").c_str()) == 0, "failed: " + command);
}

class PostgresServer {
 public:
  PostgresServer() : as_(geteuid() == 0 ? "runuser -u postgres -- env " : "env "), port_(free_port()) {
    if (geteuid() == 0) shell("chown postgres " + folder_.path(""));
    shell(as_ + "PATH=$PATH initdb -D " + data() + " -U sluice -A trust --locale=C.UTF-8");
    // A checkpoint in the middle of one round would be of the round before.
    shell(as_ + "PATH=$PATH pg_ctl -w -D " + data() + " -l " + folder_.path("log") +
          " -o \"-c listen_addresses=127.0.0.1 -c port=" + std::to_string(port_) + " -c unix_socket_directories=" +
          folder_.path("") + " -c shared_buffers=512MB -c max_wal_size=8GB -c checkpoint_timeout=1h\" start");
  }
  ~PostgresServer() {
    try {
      shell(as_ + "PATH=$PATH pg_ctl -m immediate -D " + data() + " stop");
    } catch (const std::exception&) {  // it is not there any more
    }
  }
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // Of a database that is made empty.
  std::string fresh(const std::string& database) const {
    shell(as_ + "PATH=$PATH dropdb -f --if-exists " + to() + " " + database);
    shell(as_ + "PATH=$PATH createdb " + to() + " " + database);
    return address(database);
  }
  std::string address(const std::string& database) const {
    return "postgresql://sluice@127.0.0.1:" + std::to_string(port_) + "/" + database;
  }
  // A program of PostgreSQL's, with where the server is.
  void run(const std::string& program, const std::string& words) const { shell(program + " " + to() + " " + words); }

 private:
  std::string data() const { return folder_.path("data"); }
  std::string to() const { return "-h 127.0.0.1 -p " + std::to_string(port_) + " -U sluice"; }

  DiskFolder folder_;
  std::string as_;
  uint16_t port_;
};

}  // namespace sluice::bench
