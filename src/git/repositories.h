// Repositories reads the files of a commit from Git servers, over HTTPS.
//
//   Repositories repositories({.folder = home + "/git"}, disk, clock);
//   auto read = repositories.read({.url = "https://git.example/shop.git", .ref = "main", .path = "k8s"});
//
// A bare copy of each repository is kept, so that only what is new is fetched, and a commit that is known needs no
// server. libgit2 reads and writes the copies; what goes over the network goes through http/outgoing.h, so its
// deadlines, limits, roots and address rules hold. Only https:// is spoken, redirects are not followed, and a
// credential is sent to its host alone. Symlinks and submodules are not followed.
//
// Errors: `invalid` (no such URL, reference or path), `not_found` (a reference or path that is not there), `denied`
// (the server wants another credential), `limit`, `timeout`, `unavailable` (also without the package libgit2-1.5). May
// be used from many threads; those that want the same repository wait for each other.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/result.h"
#include "http/outgoing.h"

namespace sluice::git {

// A token for the repositories of one host: "git.example", or "git.example:8443".
struct Credential {
  std::string host;
  std::string username;
  std::string token;
};

struct Limits {
  uint64_t most_bytes = uint64_t{256} << 20;      // of one repository, as it is fetched
  uint64_t most_objects = 1'000'000;              // in one repository
  size_t most_files = 5'000;                      // that are read
  uint64_t most_file_bytes = uint64_t{32} << 20;  // of all files that are read
  uint64_t most_kept_bytes = uint64_t{1} << 30;   // of all copies; those that were not used for longest go first
  int64_t timeout_ms = 120'000;                   // for all of one read
};

struct Wanted {
  std::string url;
  std::string ref = "main";  // a branch, a tag, or a commit's id
  std::string path;          // a folder of the repository; empty: all of it
  std::vector<std::string> endings = {".yaml", ".yml"};
  std::vector<Credential> credentials;  // each goes to its own host alone
  bool only_public = false;             // whoever names the URL may not reach what only this machine can
  std::function<bool()> cancelled;      // asked often
};

struct File {
  std::string path;  // relative to the folder
  std::string text;
};

struct Commit {
  std::string id;           // 40 hex digits
  std::vector<File> files;  // in the order of their paths
};

class Repositories {
 public:
  struct Settings {
    std::string folder;
    Limits limits;
    http::Outgoing::Settings network;
  };

  Repositories(Settings settings, Disk& disk, const Clock& clock);
  ~Repositories();
  Repositories(const Repositories&) = delete;
  Repositories& operator=(const Repositories&) = delete;

  Result<Commit> read(const Wanted& wanted);

 private:
  void make_room(const std::string& keep);

  const Settings settings_;
  Disk& disk_;
  const Clock& clock_;
  http::Outgoing outgoing_;
  http::Outgoing public_;  // to public addresses alone
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<std::mutex>> busy_;  // by the copy's folder
};

// The username that a server expects beside a token, if nobody says another.
std::string usual_username(const std::string& host);

}  // namespace sluice::git
