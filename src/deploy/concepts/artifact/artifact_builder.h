// The tool that Artifact's effects use: builds in a clean copy, and keeps what was built by its digest.
//
//   ArtifactBuilder builder(disk, runner, {.home = …, .environment = …, .version_of = …});
//   auto workplace = builder.prepare(id, sources);     // copies, and says the hash of what was copied
//   auto built = builder.build(*workplace, command, cancelled);
//
// In the home's folder artifacts/, blobs/ab/cdef… holds the bytes with the digest abcdef…, and work/ID the copy for one
// build, which is gone when its Workplace is. The hash is taken from the copy, so that it is of what is built even if
// somebody edits meanwhile. May be used from many threads.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "base/terminal.h"
#include "process/run.h"

namespace sluice::deploy::artifact {

struct BuildSources {
  std::string spec;            // a file or a folder; may be empty
  std::string implementation;  // likewise, and there must be one
  std::vector<std::string> deps;
};

struct BuildCommand {
  std::vector<std::string> argv;
  std::vector<std::string> tools;  // whose versions count, besides argv's first
  std::string output;              // the file that it leaves, from the implementation's folder
};

struct HashedInput {
  std::string name;  // "spec", "implementation", "deps/0", "tool make"
  std::string hash;
};

class Workplace {
 public:
  Workplace(Disk& disk, std::string folder) : disk_(&disk), folder_(std::move(folder)) {}
  Workplace(Workplace&& other) noexcept;
  Workplace& operator=(Workplace&&) = delete;
  ~Workplace();

  const std::string& folder() const { return folder_; }

  std::string hash;                 // of all inputs
  std::vector<HashedInput> inputs;  // one by one
  bool is_file = false;             // the implementation

 private:
  Disk* disk_;
  std::string folder_;
};

struct BuiltBlob {
  std::string digest;  // "sha256:…"
  int64_t size_bytes = 0;
  bool shared = false;  // it is what another build of the same hash has just made
};

// The command failed, or left nothing: why, and its last lines.
struct BuildFailure {
  std::string reason;
  std::vector<std::string> lines;
};

class ArtifactBuilder {
 public:
  struct Settings {
    std::string home;  // a folder that is there
    std::map<std::string, std::string> environment;
    // What a program's version is; nothing if there is no such program.
    std::function<std::optional<std::string>(const std::string&)> version_of;
    int64_t deadline_ms = 3'500'000;  // below the action's own, so that the command's last lines are heard
    // Whether a command can see this folder at process::kBuildPlace, as every build should; nothing: it cannot.
    std::function<bool(const std::string& work)> has_build_place = {};
  };

  // Disk and runner must outlive it.
  ArtifactBuilder(Disk& disk, process::Runner& runner, Settings settings)
      : disk_(disk), runner_(runner), settings_(std::move(settings)), folder_(settings_.home + "/artifacts") {}

  // Errors of code failed, limit, denied and the like are the place's; not_found and invalid are the sources'.
  Result<Workplace> prepare(const std::string& id, const BuildSources& sources,
                            const std::optional<BuildCommand>& command);
  // Runs it, or without a command takes the implementation as it is. If the same is being built already, waits for that
  // and shares what it makes; if that fails, it is tried anew. An Error: nobody's fault; try again.
  Result<std::variant<BuiltBlob, BuildFailure>> build(const Workplace& workplace,
                                                      const std::optional<BuildCommand>& command,
                                                      const std::function<bool()>& cancelled);
  // Whether it is kept, and its bytes have that digest.
  Result<bool> has(const std::string& digest);
  // Removes the blobs that are not among these, and what crashed builds have left.
  Result<void> keep_only(const std::set<std::string>& digests);

 private:
  using Built = std::variant<BuiltBlob, BuildFailure>;

  Result<Built> build_alone(const Workplace& workplace, const std::optional<BuildCommand>& command,
                            const std::function<bool()>& cancelled);
  // Empty for a program that lies in what is built; the digest of its file for one that is named by its whole path.
  Result<std::string> version_of(const std::string& tool);
  Result<BuiltBlob> store(const std::string& root, const std::string& relative);
  std::string path_of(const std::string& digest) const;

  Disk& disk_;
  process::Runner& runner_;
  Settings settings_;
  std::string folder_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> under_way_;        // hashes
  std::map<std::string, BuiltBlob> made_;  // by hash: what is made but perhaps not yet known to the concept
};

// Where the blob with this digest lies, from the home: "artifacts/blobs/ab/cdef…".
std::string location_of(const std::string& digest);

// The version that the program on PATH tells, or the digest of its file if it tells none.
std::optional<std::string> version_of_tool(Disk& disk, const std::string& name, const Variables& variables);

}  // namespace sluice::deploy::artifact
