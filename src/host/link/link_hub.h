// LinkHub holds the connections of routers on other machines, and makes each of them look like a router of this home:
// it has a folder with a router.json, and a control socket, behind which is the one of the router itself. So whoever
// speaks to routers here, RouterFleet above all, speaks to these in the same way.
//
//   auto hub = LinkHub::start({…}, joined);
//   (*hub)->take(router, std::move(connection), input);      // from then on it is the hub's
//
// One thread moves the bytes of all of them. A router that says nothing for five seconds is cut off: its socket goes,
// its router.json stays. Certificates go before whatever asks the router to read them, and within a second of every
// change.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/result.h"
#include "crypto/ed25519.h"
#include "host/home.h"
#include "host/link/carried_files.h"
#include "host/link/joined_routers.h"
#include "host/link/link_frames.h"
#include "http/held_connection.h"

namespace sluice::host {

class LinkHub {
 public:
  struct Means {
    Disk& disk;
    const Home& home;
    const Clock& clock;
    std::function<Result<crypto::PrivateKey>()> key;  // that orders are signed with
    int64_t token = 0;                                // of the lease; 0: there is none
    std::function<std::vector<std::string>()> urls;   // where routers reach this control plane's replicas
    std::function<void(const std::string&)> log;
  };
  // What the means refer to must outlive it.
  static Result<std::unique_ptr<LinkHub>> start(Means means, const std::vector<JoinedRouter>& joined);
  ~LinkHub();
  LinkHub(const LinkHub&) = delete;
  LinkHub& operator=(const LinkHub&) = delete;

  // From any thread. One that is linked already under this name is replaced.
  void take(JoinedRouter router, std::unique_ptr<http::HeldConnection> connection, std::string input);
  // It was removed: nothing of it stays in the home.
  void forget(const std::string& name);

 private:
  struct Stream {
    int fd = -1;
    std::string out;      // to whoever asked
    bool ended = false;   // after that
    bool asked = false;   // something has come
    bool paused = false;  // not read from: the link takes no more
  };
  struct Link {
    JoinedRouter router;
    std::unique_ptr<http::HeldConnection> connection;
    LinkReader reader;
    int listening = -1;
    std::map<uint32_t, Stream> streams;
    uint32_t last_stream = 0;
    int64_t heard_ms = 0, said_ms = 0;
    std::string urls;  // as they were sent last
    bool writes = false;
    bool lost = false;
  };
  // Whose descriptor it is.
  struct Watched {
    Link* link = nullptr;
    enum class As { connection, listener, stream } as = As::connection;
    uint32_t stream = 0;
  };

  explicit LinkHub(Means means);
  void run();
  void take_new();
  void begin(JoinedRouter router, std::unique_ptr<http::HeldConnection> connection, std::string input);
  void hear(Link& link);
  void obey(Link& link, LinkFrame frame);
  void greet(Link& link, const std::string& hello);
  void accept(Link& link);
  void read(Link& link, uint32_t number);
  void write(Link& link, uint32_t number);
  void close(Link& link, uint32_t number);
  void say(Link& link, LinkKind kind, uint32_t stream, std::string_view bytes);
  void send_files(Link& link);
  void send_urls(Link& link);
  void flush(Link& link);
  void look_at_times();
  void drop_lost();
  void watch(int fd, uint32_t events, Watched watched);
  void watch_again(int fd, uint32_t events);
  void unwatch(int fd);
  Result<void> write_record(const JoinedRouter& router, const std::string& address, const std::string& hello);
  std::string folder_of(const std::string& name) const;
  std::string files_stamp() const;

  Means means_;
  int poll_ = -1, wake_ = -1;
  std::atomic<bool> stopping_ = false;
  std::unordered_map<int, Watched> watched_;
  std::map<std::string, std::unique_ptr<Link>> links_;  // by name
  FilesVersion files_version_;
  std::string files_stamp_, files_digest_, files_;  // what is sent; empty: not read yet
  int64_t looked_ms_ = 0, looked_at_files_ms_ = 0;

  struct New {
    JoinedRouter router;
    std::unique_ptr<http::HeldConnection> connection;  // null: forget it
    std::string input;
  };
  std::mutex mutex_;
  std::vector<New> new_;
  std::thread thread_;
};

}  // namespace sluice::host
