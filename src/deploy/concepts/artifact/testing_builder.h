// A builder on a disk in memory, with a compiler that only counts: for tests of Artifact.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/testing_volatile_disk.h"
#include "deploy/concepts/artifact/artifact_builder.h"

namespace sluice::deploy::artifact {

// `compile` writes "built from " and main.txt into the file out.
class TestingCompiler final : public process::Runner {
 public:
  explicit TestingCompiler(Disk& disk) : disk_(disk) {}

  Result<process::Ran> run(const process::RunRequest& request, const std::function<bool()>&) override {
    ++runs;
    last = request;
    if (meanwhile) meanwhile();
    if (ran.end != process::Ran::End::exited || ran.code != 0) return ran;
    auto text = read_file(disk_, request.folder + "/main.txt", 1 << 20);
    if (!text) return text.error();
    if (auto written = write_atomically(disk_, request.folder + "/out", "built from " + *text, 0644); !written) {
      return written.error();
    }
    return ran;
  }

  int runs = 0;
  process::RunRequest last;
  process::Ran ran;  // how it ends
  std::function<void()> meanwhile;

 private:
  Disk& disk_;
};

struct TestingBuilder {
  TestingBuilder() {
    for (const char* folder : {"/home", "/shop"}) (void)disk.make_folder(folder, 0700);
    put("/shop/main.txt", "one");
  }

  void put(const std::string& path, const std::string& text) { (void)write_atomically(disk, path, text, 0644); }
  std::string blob(const std::string& digest) {
    auto text = read_file(disk, "/home/" + location_of(digest), 1 << 20);
    return text ? *text : text.error().message;
  }
  // Bytes under a digest, without a build.
  void put_blob(const std::string& digest, const std::string& text) {
    std::string path = "/home/" + location_of(digest);
    for (size_t slash = path.find('/', 6); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      (void)disk.make_folder(path.substr(0, slash), 0700);
    }
    put(path, text);
  }
  // Of all that is kept.
  std::set<std::string> digests() {
    std::set<std::string> all;
    auto shards = disk.list("/home/artifacts/blobs");
    for (const FolderEntry& shard : shards ? *shards : std::vector<FolderEntry>()) {
      auto entries = disk.list("/home/artifacts/blobs/" + shard.name);
      for (const FolderEntry& each : *entries) all.insert("sha256:" + shard.name + each.name);
    }
    return all;
  }
  size_t blobs() { return digests().size(); }

  VolatileDisk disk;
  TestingCompiler compiler{disk};
  std::map<std::string, std::string> versions = {{"compile", "1.0"}, {"ld", "2.40"}};
  ArtifactBuilder builder{disk,
                          compiler,
                          {.home = "/home",
                           .environment = {{"PATH", "/usr/bin"}},
                           .version_of = [this](const std::string& name) -> std::optional<std::string> {
                             auto found = versions.find(name);
                             return found == versions.end() ? std::nullopt : std::optional(found->second);
                           }}};
};

}  // namespace sluice::deploy::artifact
