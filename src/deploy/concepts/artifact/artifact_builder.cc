// Copies by walking with a list of what is still to do, so that no depth of folders is a depth of calls.
#include "deploy/concepts/artifact/artifact_builder.h"

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>

#include "base/canonical_json.h"
#include "base/tool_probe.h"
#include "bundle/archive/entry_rules.h"
#include "bundle/manifest/selection.h"
#include "crypto/sha256.h"
#include "process/build_place.h"
#include "process/find_program.h"

namespace sluice::deploy::artifact {
namespace {

constexpr size_t kMaxFiles = 200'000;
constexpr uint64_t kMaxBytes = uint64_t{8} << 30;
constexpr size_t kMaxPathBytes = 3000;
constexpr size_t kChunkBytes = 256 << 10;
constexpr size_t kMaxMade = 1'000;
constexpr uint32_t kPrivate = 0700;
constexpr uint32_t kExecuteBits = 0111;
constexpr std::string_view kPrefix = "sha256:";

Result<void> make_folder_if_missing(Disk& disk, const std::string& path) {
  auto made = disk.make_folder(path, kPrivate);
  if (made || made.error().code == Code::conflict) return {};
  return made;
}

Result<void> remove_tree(Disk& disk, const std::string& root) {
  std::vector<std::string> folders = {root};
  for (size_t i = 0; i < folders.size(); ++i) {
    std::string folder = folders[i];
    auto entries = disk.list(folder);
    if (!entries && entries.error().code == Code::not_found) return {};
    if (!entries) return entries.error();
    for (const FolderEntry& entry : *entries) {
      std::string path = folder + "/" + entry.name;
      if (entry.kind == FileKind::folder) {
        folders.push_back(path);
      } else if (auto removed = disk.remove(path); !removed) {
        return removed;
      }
    }
  }
  for (size_t i = folders.size(); i > 0; --i) {
    if (auto removed = disk.remove_folder(folders[i - 1]); !removed) return removed;
  }
  return {};
}

// Copies what is in one file to another and says its digest and size.
struct Copied {
  std::string digest;
  uint64_t bytes = 0;
};
Result<Copied> copy_bytes(File& from, File& to) {
  crypto::Sha256Stream digest;
  Copied copied;
  std::vector<char> chunk(kChunkBytes);
  while (true) {
    auto got = from.read_at(copied.bytes, chunk);
    if (!got) return got.error();
    std::string_view bytes(chunk.data(), *got);
    digest.update(bytes);
    if (auto written = to.write_at(copied.bytes, bytes); !written) return written.error();
    copied.bytes += *got;
    if (copied.bytes > kMaxBytes) return Error{.code = Code::limit, .message = "more than 8 GiB"};
    if (*got < chunk.size()) break;
  }
  copied.digest = crypto::to_string(digest.finish());
  return copied;
}

// Copies a file or a folder, and gathers what its hash is over: (path, kind, mode, digest or target) by path.
class Copy {
 public:
  Copy(Disk& disk, const std::string& from) : disk_(disk), links_(from, 0) {}

  Result<std::string> run(const std::string& from, const std::string& to) {
    if (auto chosen = leave_out(from); !chosen) return chosen.error();
    left_ = {{from, to, ""}};
    while (!left_.empty()) {
      Item item = std::move(left_.back());
      left_.pop_back();
      if (auto copied = one(item); !copied) return copied.error();
      if (lines_.size() > kMaxFiles) return too_much(from, "200,000 files");
      if (bytes_ > kMaxBytes) return too_much(from, "8 GiB");
    }
    if (auto inside = links_.finish(); !inside) return inside.error();
    std::ranges::sort(lines_, {}, [](const json::value& line) { return std::string(line.at(0).as_string()); });
    json::array sorted(lines_.begin(), lines_.end());
    auto text = canonical(sorted);
    if (!text) return Error{.code = Code::invalid, .message = from + " has a name that is not UTF-8"};
    return crypto::to_string(crypto::sha256(*text));
  }

 private:
  struct Item {
    std::string from, to, name;
  };

  // What a bundle of the folder would not have either: secrets, what .sluiceignore names, version control, what editors
  // and earlier builds have left.
  Result<void> leave_out(const std::string& from) {
    auto stat = disk_.stat(from, FollowLinks::yes);
    if (!stat) return stat.error();
    if (stat->kind != FileKind::folder) return {};
    auto selection = bundle::select(disk_, from);
    if (!selection) return Error{.code = Code::invalid, .message = selection.error().message};
    for (const bundle::Skipped& each : selection->skipped) {
      if (each.is_special) continue;  // it is named when it is met
      left_out_.insert(each.path.ends_with('/') ? each.path.substr(0, each.path.size() - 1) : each.path);
    }
    return {};
  }

  static Error too_much(const std::string& from, const std::string& what) {
    return {.code = Code::invalid, .message = from + " has more than " + what};
  }

  void line(const std::string& name, const char* kind, const char* mode, const std::string& content) {
    lines_.push_back(json::array{name, kind, mode, content});
  }

  Result<void> one(const Item& item) {
    if (item.name.size() > kMaxPathBytes) return Error{.code = Code::invalid, .message = item.from + " is too deep"};
    auto stat = disk_.stat(item.from, item.name.empty() ? FollowLinks::yes : FollowLinks::no);
    if (!stat) return stat.error();
    switch (stat->kind) {
      case FileKind::file:
        return file(item, (stat->mode & kExecuteBits) != 0);
      case FileKind::folder:
        return folder(item);
      case FileKind::symlink: {
        auto target = disk_.read_link(item.from);
        if (!target) return target.error();
        // Through one that leads out the command would read what the hash does not know.
        auto admitted = links_.admit({.path = item.name, .kind = bundle::RawEntry::Kind::symlink, .target = *target});
        if (!admitted) return admitted.error();
        line(item.name, "link", "", *target);
        return disk_.symlink(*target, item.to);
      }
      case FileKind::other:
        break;
    }
    return Error{.code = Code::invalid, .message = item.from + " is neither a file, a folder nor a link"};
  }

  Result<void> file(const Item& item, bool executable) {
    auto from = disk_.open(item.from, {});
    if (!from) return from.error();
    auto to = disk_.open(item.to, {.write = true, .create = true, .exclusive = true});
    if (!to) return to.error();
    auto copied = copy_bytes(**from, **to);
    if (!copied) return copied.error();
    bytes_ += copied->bytes;
    line(item.name, "file", executable ? "755" : "644", copied->digest);
    return (*to)->chmod(executable ? 0755 : 0644);
  }

  Result<void> folder(const Item& item) {
    if (auto made = disk_.make_folder(item.to, kPrivate); !made) return made;
    auto entries = disk_.list(item.from);
    if (!entries) return entries.error();
    if (!item.name.empty()) line(item.name, "folder", "", "");
    for (const FolderEntry& entry : *entries) {
      std::string name = item.name.empty() ? entry.name : item.name + "/" + entry.name;
      if (left_out_.contains(name)) continue;
      left_.push_back({item.from + "/" + entry.name, item.to + "/" + entry.name, std::move(name)});
    }
    return {};
  }

  Disk& disk_;
  bundle::EntryRules links_;        // symlinks alone
  std::set<std::string> left_out_;  // names
  std::vector<Item> left_;
  std::vector<json::value> lines_;
  uint64_t bytes_ = 0;
};

Result<std::string> digest_of(Disk& disk, const std::string& path) {
  auto file = disk.open(path, {});
  if (!file) return file.error();
  crypto::Sha256Stream digest;
  std::vector<char> chunk(kChunkBytes);
  for (uint64_t at = 0;; at += chunk.size()) {
    auto got = (*file)->read_at(at, chunk);
    if (!got) return got.error();
    digest.update({chunk.data(), *got});
    if (*got < chunk.size()) return crypto::to_string(digest.finish());
  }
}

// Whether a program is one of the files that are built, and counts as such.
bool is_in_copy(const std::string& program) { return program.find('/') != std::string::npos && program[0] != '/'; }

}  // namespace

Workplace::Workplace(Workplace&& other) noexcept
    : hash(std::move(other.hash)),
      inputs(std::move(other.inputs)),
      is_file(other.is_file),
      disk_(std::exchange(other.disk_, nullptr)),
      folder_(std::move(other.folder_)) {}

Workplace::~Workplace() {
  // What cannot be removed now is removed with the next collection.
  if (disk_ != nullptr) (void)remove_tree(*disk_, folder_);
}

Result<Workplace> ArtifactBuilder::prepare(const std::string& id, const BuildSources& sources,
                                           const std::optional<BuildCommand>& command) {
  auto place = [](Error error) {
    error.code = Code::failed;
    return error;
  };
  for (const char* part : {"", "/work"}) {
    if (auto made = make_folder_if_missing(disk_, folder_ + part); !made) return place(made.error());
  }
  Workplace workplace(disk_, folder_ + "/work/" + id);
  const std::string& root = workplace.folder();
  if (auto removed = remove_tree(disk_, root); !removed) return place(removed.error());
  for (const char* part : {"", "/deps", "/home", "/tmp"}) {
    if (auto made = disk_.make_folder(root + part, kPrivate); !made) return place(made.error());
  }
  auto take = [&](const std::string& name, const std::string& from, const std::string& to) -> Result<void> {
    auto hash = Copy(disk_, from).run(from, root + to);
    if (!hash) return hash.error();
    workplace.inputs.push_back({name, *hash});
    return {};
  };
  if (!sources.spec.empty()) {
    if (auto taken = take("spec", sources.spec, "/spec"); !taken) return taken.error();
  }
  if (auto taken = take("implementation", sources.implementation, "/src"); !taken) return taken.error();
  for (size_t i = 0; i < sources.deps.size(); ++i) {
    std::string name = "deps/" + std::to_string(i);
    if (auto taken = take(name, sources.deps[i], "/" + name); !taken) return taken.error();
  }
  auto stat = disk_.stat(root + "/src", FollowLinks::no);
  if (!stat) return place(stat.error());
  workplace.is_file = stat->kind == FileKind::file;

  json::object hashed{{"inputs", json::object()}};
  if (command) {
    std::set<std::string> tools(command->tools.begin(), command->tools.end());
    if (!command->argv.empty()) tools.insert(command->argv.front());
    for (const std::string& tool : tools) {
      auto version = version_of(tool);
      if (!version) return version.error();
      if (!version->empty()) workplace.inputs.push_back({"tool " + tool, *version});
    }
    hashed["argv"] = json::array(command->argv.begin(), command->argv.end());
    hashed["output"] = command->output;
  }
  for (const HashedInput& input : workplace.inputs) hashed["inputs"].as_object()[input.name] = input.hash;
  auto text = canonical(hashed);
  if (!text) return Error{.code = Code::invalid, .message = "the command is not UTF-8"};
  workplace.hash = crypto::to_string(crypto::sha256(*text));
  return workplace;
}

Result<std::string> ArtifactBuilder::version_of(const std::string& tool) {
  if (is_in_copy(tool)) {
    const std::string plain = std::filesystem::path(tool).lexically_normal().string();
    if (!plain.starts_with("..")) return std::string();
    return Error{.code = Code::invalid, .message = tool + " leads out of what is built: name it by its whole path"};
  }
  if (tool.starts_with('/')) return digest_of(disk_, tool);
  auto version = tool.empty() ? std::nullopt : settings_.version_of(tool);
  if (!version) return Error{.code = Code::not_found, .message = "there is no program " + tool + " on PATH"};
  return *version;
}

Result<std::variant<BuiltBlob, BuildFailure>> ArtifactBuilder::build(const Workplace& workplace,
                                                                     const std::optional<BuildCommand>& command,
                                                                     const std::function<bool()>& cancelled) {
  constexpr auto kLook = std::chrono::milliseconds(20);
  const std::string& hash = workplace.hash;
  std::unique_lock lock(mutex_);
  while (under_way_.contains(hash)) {
    if (cancelled && cancelled()) return Built(BuildFailure{.reason = "the build was cancelled"});
    changed_.wait_for(lock, kLook);
  }
  if (auto found = made_.find(hash); found != made_.end()) {
    BuiltBlob made = found->second;
    made.shared = true;
    auto there = has(made.digest);
    if (there && *there) return Built(std::move(made));
    made_.erase(found);
  }
  under_way_.insert(hash);
  lock.unlock();
  auto built = build_alone(workplace, command, cancelled);
  lock.lock();
  under_way_.erase(hash);
  if (built && std::holds_alternative<BuiltBlob>(*built)) {
    if (made_.size() >= kMaxMade) made_.clear();
    made_[hash] = std::get<BuiltBlob>(*built);
  }
  changed_.notify_all();
  return built;
}

Result<ArtifactBuilder::Built> ArtifactBuilder::build_alone(const Workplace& workplace,
                                                            const std::optional<BuildCommand>& command,
                                                            const std::function<bool()>& cancelled) {
  const std::string& root = workplace.folder();
  if (!command) {
    if (!workplace.is_file) return Built(BuildFailure{.reason = "a folder is built by a command, and there is none"});
    auto stored = store(root, "src");
    if (!stored) return stored.error();
    return Built(*std::move(stored));
  }
  if (workplace.is_file) return Built(BuildFailure{.reason = "a command is run in a folder, and this is a file"});
  std::map<std::string, std::string> environment = settings_.environment;
  environment["HOME"] = root + "/home";
  environment["TMPDIR"] = root + "/tmp";
  environment["SLUICE_SPEC"] = root + "/spec";
  environment["SLUICE_DEPS"] = root + "/deps";
  process::RunRequest request{.argv = command->argv,
                              .folder = root + "/src",
                              .environment = std::move(environment),
                              .deadline_ms = settings_.deadline_ms};
  // Compilers write the path of what they compile into what they make: it is the same for every build.
  if (!command->argv.empty() && settings_.has_build_place && settings_.has_build_place(root)) {
    auto program = process::find_program(command->argv.front(), request.folder, request.environment);
    if (!program) return Built(BuildFailure{.reason = program.error().message});
    request = process::in_build_place(std::move(request), root);
  }
  auto ran = runner_.run(request, cancelled);
  if (!ran) return Built(BuildFailure{.reason = ran.error().message});
  if (!ran->good()) {
    return Built(
        BuildFailure{.reason = command->argv.front() + " " + to_string(*ran), .lines = process::last_lines(*ran)});
  }
  auto stored = store(root + "/src", command->output);
  if (stored) return Built(*std::move(stored));
  const Code code = stored.error().code;
  if (code != Code::not_found && code != Code::denied && code != Code::invalid) return stored.error();
  return Built(
      BuildFailure{.reason = "the command left no file " + command->output, .lines = process::last_lines(*ran)});
}

Result<BuiltBlob> ArtifactBuilder::store(const std::string& root, const std::string& relative) {
  if (relative.empty()) return Error{.code = Code::invalid, .message = "the output has no name"};
  auto from = disk_.open_beneath(root, relative, {});
  if (!from) return from.error();
  auto stat = (*from)->stat();
  if (!stat) return stat.error();
  if (stat->kind != FileKind::file) return Error{.code = Code::invalid, .message = relative + " is no file"};
  // It is written beside what it came from, and gets its name when its digest is known.
  std::string unfinished = root + "/.sluice-output";
  Copied copied;
  {
    auto to = disk_.open(unfinished, {.write = true, .create = true, .truncate = true, .follow = false});
    if (!to) return to.error();
    auto done = copy_bytes(**from, **to);
    if (!done) return done.error();
    copied = *std::move(done);
    if (auto synced = (*to)->sync(SyncWhat::all); !synced) return synced.error();
  }
  std::string path = path_of(copied.digest);
  for (const std::string& folder : {folder_ + "/blobs", folder_of(path)}) {
    if (auto made = make_folder_if_missing(disk_, folder); !made) return made.error();
    if (auto synced = disk_.sync_folder(folder_of(folder)); !synced) return synced.error();
  }
  if (auto renamed = disk_.rename(unfinished, path); !renamed) return renamed.error();
  if (auto synced = disk_.sync_folder(folder_of(path)); !synced) return synced.error();
  return BuiltBlob{.digest = copied.digest, .size_bytes = static_cast<int64_t>(copied.bytes)};
}

Result<bool> ArtifactBuilder::has(const std::string& digest) {
  auto found = digest_of(disk_, path_of(digest));
  if (!found && found.error().code == Code::not_found) return false;
  if (!found) return found.error();
  return *found == digest;
}

Result<void> ArtifactBuilder::keep_only(const std::set<std::string>& digests) {
  {
    std::unique_lock lock(mutex_);
    made_.clear();
  }
  if (auto removed = remove_tree(disk_, folder_ + "/work"); !removed) return removed;
  std::string blobs = folder_ + "/blobs";
  auto shards = disk_.list(blobs);
  if (!shards && shards.error().code == Code::not_found) return {};
  if (!shards) return shards.error();
  for (const FolderEntry& shard : *shards) {
    std::string folder = blobs + "/" + shard.name;
    auto entries = disk_.list(folder);
    if (!entries) return entries.error();
    for (const FolderEntry& entry : *entries) {
      if (digests.contains(std::string(kPrefix) + shard.name + entry.name)) continue;
      if (auto removed = disk_.remove(folder + "/" + entry.name); !removed) return removed;
    }
  }
  return {};
}

std::string ArtifactBuilder::path_of(const std::string& digest) const {
  return settings_.home + "/" + location_of(digest);
}

std::string location_of(const std::string& digest) {
  std::string hex = digest.substr(std::min(digest.size(), kPrefix.size()));
  return "artifacts/blobs/" + hex.substr(0, 2) + "/" + hex.substr(std::min<size_t>(hex.size(), 2));
}

std::optional<std::string> version_of_tool(Disk& disk, const std::string& name, const Variables& variables) {
  ToolProbe probe = probe_tool({.name = name}, variables);
  if (!probe.found) return std::nullopt;
  if (!probe.version.empty()) return probe.version;
  auto digest = digest_of(disk, probe.path);
  return digest ? std::optional(*digest) : std::nullopt;
}

}  // namespace sluice::deploy::artifact
