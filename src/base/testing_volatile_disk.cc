// A tree of nodes, each with what it is now, what it would be after a crash, and the changes between the two.
#include "base/testing_volatile_disk.h"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace sluice {
namespace {

constexpr uint64_t kMaxFileBytes = uint64_t{1} << 30;
constexpr size_t kMaxFileNameBytes = 255;
constexpr int kMaxSymlinks = 40;

// A write of `bytes` at `offset`, or a change of the size to `offset`.
struct ContentChange {
  bool is_write = true;
  uint64_t offset = 0;
  std::string bytes;
};

void replay(const ContentChange& change, std::string& contents) {
  if (!change.is_write) {
    contents.resize(change.offset, '\0');
    return;
  }
  uint64_t end = change.offset + change.bytes.size();
  if (contents.size() < end) contents.resize(end, '\0');
  contents.replace(change.offset, change.bytes.size(), change.bytes);
}

struct Node;
using Entries = std::map<std::string, Node*>;
// Names set, or (nullptr) removed, in one step.
using EntryChange = std::vector<std::pair<std::string, Node*>>;

void replay(const EntryChange& change, Entries& entries) {
  for (const auto& [name, node] : change) {
    if (node == nullptr) {
      entries.erase(name);
    } else {
      entries[name] = node;
    }
  }
}

struct Node {
  FileKind kind = FileKind::file;
  uint64_t inode = 0;
  uint64_t links = 0;
  int64_t mtime_ns = 0;
  std::map<const File*, FileLock> locks;

  std::string contents;  // or a symlink's target
  Entries entries;
  uint32_t mode = 0;

  std::string durable_contents;
  Entries durable_entries;
  uint32_t durable_mode = 0;

  std::vector<ContentChange> content_changes;
  std::vector<EntryChange> entry_changes;
};

// Where a path leads: the folder and the name in it, and the node of that name if there is one. The root has no name.
struct Location {
  int errno_value = 0;
  std::vector<Node*> folders;  // from the root to the one that holds the name
  std::string name;
  Node* node = nullptr;

  Node& folder() const { return *folders.back(); }
};

void prepend_components(std::string_view path, std::deque<std::string>& components) {
  std::vector<std::string> found;
  while (!path.empty()) {
    size_t slash = std::min(path.find('/'), path.size());
    std::string component(path.substr(0, slash));
    if (!component.empty() && component != ".") found.push_back(std::move(component));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  components.insert(components.begin(), found.begin(), found.end());
}

}  // namespace

// All state, under one mutex. Nodes are never freed: an open file may outlive its name, and a durable name may
// outlive both.
struct VolatileDisk::Tree {
  std::mutex mutex;
  std::deque<Node> nodes;
  Node* root = nullptr;
  int64_t ticks = 0;
  uint64_t crashes = 0;

  Node* add(FileKind kind, uint32_t mode) {
    Node& node = nodes.emplace_back();
    node.kind = kind;
    node.inode = nodes.size();
    node.mode = node.durable_mode = mode;
    node.mtime_ns = ++ticks;
    return &node;
  }

  // In a jail `start` is its root, and `..`, absolute paths and symlinks give EXDEV.
  Location find(std::string_view path, FollowLinks follow_last, Node* start = nullptr) const {
    const bool jailed = start != nullptr;
    Location place;
    place.folders = {jailed ? start : root};
    auto fail = [](int errno_value) {
      Location failed;
      failed.errno_value = errno_value;
      return failed;
    };
    if (path.empty()) return fail(ENOENT);
    if (path.find('\0') != std::string_view::npos) return fail(EINVAL);
    if (jailed && path.starts_with('/')) return fail(EXDEV);
    std::deque<std::string> left;
    prepend_components(path, left);
    place.node = place.folders.back();
    int symlinks = 0;
    while (!left.empty()) {
      std::string component = std::move(left.front());
      left.pop_front();
      if (component.size() > kMaxFileNameBytes) return fail(ENAMETOOLONG);
      if (place.node == nullptr) return fail(ENOENT);
      if (place.node->kind != FileKind::folder) return fail(ENOTDIR);
      if (component == "..") {
        if (jailed) return fail(EXDEV);
        if (place.node == place.folders.back() && place.folders.size() > 1) place.folders.pop_back();
        place.node = place.folders.back();
        place.name.clear();
        continue;
      }
      if (place.node != place.folders.back()) place.folders.push_back(place.node);
      auto entry = place.folder().entries.find(component);
      Node* next = entry == place.folder().entries.end() ? nullptr : entry->second;
      bool follow = !left.empty() || follow_last == FollowLinks::yes;
      if (next != nullptr && next->kind == FileKind::symlink && (follow || jailed)) {
        if (jailed) return fail(EXDEV);
        if (++symlinks > kMaxSymlinks) return fail(ELOOP);
        if (next->contents.starts_with('/')) place.folders.resize(1);
        prepend_components(next->contents, left);
        place.node = place.folders.back();
        place.name.clear();
        continue;
      }
      place.name = std::move(component);
      place.node = next;
    }
    return place;
  }

  // Of something that must be there.
  Location find_node(std::string_view path, FollowLinks follow_last) const {
    Location place = find(path, follow_last);
    if (place.errno_value == 0 && place.node == nullptr) place.errno_value = ENOENT;
    return place;
  }

  // Of something that must not be there.
  Location find_free(std::string_view path, Node* start = nullptr) const {
    Location place = find(path, FollowLinks::no, start);
    if (place.errno_value == 0 && place.node != nullptr) place.errno_value = EEXIST;
    return place;
  }

  void change(Node& folder, EntryChange change) {
    for (const auto& [name, node] : change) {
      if (auto old = folder.entries.find(name); old != folder.entries.end()) --old->second->links;
      if (node != nullptr) ++node->links;
    }
    replay(change, folder.entries);
    folder.entry_changes.push_back(std::move(change));
    folder.mtime_ns = ++ticks;
  }

  void change(Node& file, ContentChange change) {
    replay(change, file.contents);
    file.content_changes.push_back(std::move(change));
    file.mtime_ns = ++ticks;
  }

  // Random is null when nothing unsynced survives.
  void crash(Random* random) {
    ++crashes;
    for (Node& node : nodes) {
      if (random != nullptr) keep_some(node, *random);
      node.contents = node.durable_contents;
      node.entries = node.durable_entries;
      node.mode = node.durable_mode;
      node.content_changes.clear();
      node.entry_changes.clear();
      node.locks.clear();
      node.links = 0;
    }
    for (Node& node : nodes) {
      for (auto& [name, child] : node.entries) ++child->links;
    }
  }

  // Pages reach a disk in any order, so each content change survives or not by itself, the last bytes of a write
  // perhaps missing. Names go through a journal, in order.
  static void keep_some(Node& node, Random& random) {
    for (ContentChange& change : node.content_changes) {
      uint64_t fate = random.below(3);
      if (fate == 0) continue;
      if (fate == 1 && change.is_write) change.bytes.resize(random.below(change.bytes.size() + 1));
      replay(change, node.durable_contents);
    }
    if (!node.entry_changes.empty()) {
      uint64_t kept = random.below(node.entry_changes.size() + 1);
      for (uint64_t i = 0; i < kept; ++i) replay(node.entry_changes[i], node.durable_entries);
    }
    if (node.mode != node.durable_mode && random.below(2) == 1) node.durable_mode = node.mode;
  }

  static FileStat stat_of(const Node& node) {
    return {.kind = node.kind,
            .size = node.contents.size(),
            .mode = node.mode,
            .mtime_ns = node.mtime_ns,
            .inode = node.inode,
            .links = node.links};
  }

  Location open(std::string_view path, const OpenFlags& flags, Node* start);
};

class VolatileDisk::OpenFile final : public File {
 public:
  OpenFile(Tree& tree, Node& node, const OpenFlags& flags, std::string path)
      : tree_(tree), node_(node), flags_(flags), path_(std::move(path)), crashes_(tree.crashes) {}

  ~OpenFile() override {
    std::lock_guard guard(tree_.mutex);
    node_.locks.erase(this);
  }

  Result<size_t> read_at(uint64_t offset, std::span<char> into) override {
    std::lock_guard guard(tree_.mutex);
    int errno_value = !flags_.read ? EBADF : node_.kind == FileKind::folder ? EISDIR : 0;
    if (auto bad = failure("read", errno_value)) return *bad;
    if (offset >= node_.contents.size()) return size_t{0};
    return node_.contents.copy(into.data(), into.size(), offset);
  }

  Result<void> write_at(uint64_t offset, std::string_view bytes) override {
    std::lock_guard guard(tree_.mutex);
    bool too_large = offset > kMaxFileBytes || bytes.size() > kMaxFileBytes - offset;
    if (auto bad = failure("write", !flags_.write ? EBADF : too_large ? EFBIG : 0)) return *bad;
    if (!bytes.empty()) tree_.change(node_, {.offset = offset, .bytes = std::string(bytes)});
    return {};
  }

  Result<void> truncate(uint64_t size) override {
    std::lock_guard guard(tree_.mutex);
    if (auto bad = failure("truncate", !flags_.write ? EINVAL : size > kMaxFileBytes ? EFBIG : 0)) return *bad;
    tree_.change(node_, {.is_write = false, .offset = size});
    return {};
  }

  Result<void> sync(SyncWhat what) override {
    std::lock_guard guard(tree_.mutex);
    if (auto bad = failure("sync")) return *bad;
    for (const ContentChange& change : node_.content_changes) replay(change, node_.durable_contents);
    node_.content_changes.clear();
    if (what == SyncWhat::all) node_.durable_mode = node_.mode;
    return {};
  }

  Result<FileStat> stat() override {
    std::lock_guard guard(tree_.mutex);
    if (auto bad = failure("stat")) return *bad;
    return Tree::stat_of(node_);
  }

  Result<void> chmod(uint32_t mode) override {
    std::lock_guard guard(tree_.mutex);
    if (auto bad = failure("change the mode of")) return *bad;
    node_.mode = mode;
    return {};
  }

  Result<bool> lock(FileLock kind) override {
    std::lock_guard guard(tree_.mutex);
    bool allowed = kind == FileLock::none || (kind == FileLock::shared ? flags_.read : flags_.write);
    if (auto bad = failure("lock", allowed ? 0 : EBADF)) return *bad;
    if (kind == FileLock::none) {
      node_.locks.erase(this);
      return true;
    }
    for (const auto& [holder, held] : node_.locks) {
      if (holder != this && (kind == FileLock::exclusive || held == FileLock::exclusive)) return false;
    }
    node_.locks[this] = kind;
    return true;
  }

 private:
  std::optional<Error> failure(std::string_view action, int errno_value = 0) const {
    if (crashes_ != tree_.crashes) errno_value = EIO;
    if (errno_value == 0) return std::nullopt;
    return error_from(errno_value, action, path_);
  }

  Tree& tree_;
  Node& node_;
  OpenFlags flags_;
  std::string path_;
  uint64_t crashes_;
};

Location VolatileDisk::Tree::open(std::string_view path, const OpenFlags& flags, Node* start) {
  bool create_only = flags.create && flags.exclusive;
  Location place = find(path, flags.follow && !create_only ? FollowLinks::yes : FollowLinks::no, start);
  if (place.errno_value != 0) return place;
  if (flags.truncate && !flags.write) {
    place.errno_value = EINVAL;
  } else if (place.node == nullptr) {
    if (!flags.create) {
      place.errno_value = ENOENT;
      return place;
    }
    place.node = add(FileKind::file, flags.mode);
    change(place.folder(), EntryChange{{place.name, place.node}});
  } else if (create_only) {
    place.errno_value = EEXIST;
  } else if (place.node->kind == FileKind::symlink) {
    place.errno_value = ELOOP;
  } else if (place.node->kind == FileKind::folder && (flags.write || flags.create)) {
    place.errno_value = EISDIR;
  } else if (flags.truncate) {
    change(*place.node, ContentChange{.is_write = false});
  }
  return place;
}

VolatileDisk::VolatileDisk() : tree_(std::make_unique<Tree>()) { tree_->root = tree_->add(FileKind::folder, 0755); }
VolatileDisk::~VolatileDisk() = default;

void VolatileDisk::crash() {
  std::lock_guard guard(tree_->mutex);
  tree_->crash(nullptr);
}

void VolatileDisk::crash_keeping_some(Random& random) {
  std::lock_guard guard(tree_->mutex);
  tree_->crash(&random);
}

Result<std::unique_ptr<File>> VolatileDisk::open(const std::string& path, const OpenFlags& flags) {
  std::lock_guard guard(tree_->mutex);
  Location place = tree_->open(path, flags, nullptr);
  if (place.errno_value != 0) return error_from(place.errno_value, flags.exclusive ? "create" : "open", path);
  return std::unique_ptr<File>(new OpenFile(*tree_, *place.node, flags, path));
}

Result<std::unique_ptr<File>> VolatileDisk::open_beneath(const std::string& root, const std::string& relative,
                                                         const OpenFlags& flags) {
  std::lock_guard guard(tree_->mutex);
  const std::string path = root + "/" + relative;
  Location place = tree_->find_node(root, FollowLinks::yes);
  if (place.errno_value == 0) place = tree_->open(relative, flags, place.node);
  if (place.errno_value == EXDEV) return error_of_leaving(flags.exclusive ? "create" : "open", root, relative);
  if (place.errno_value != 0) return error_from(place.errno_value, flags.exclusive ? "create" : "open", path);
  return std::unique_ptr<File>(new OpenFile(*tree_, *place.node, flags, path));
}

Result<void> VolatileDisk::make_folder_beneath(const std::string& root, const std::string& relative, uint32_t mode) {
  std::lock_guard guard(tree_->mutex);
  Location place = tree_->find_node(root, FollowLinks::yes);
  if (place.errno_value == 0) place = tree_->find_free(relative, place.node);
  if (place.errno_value == EXDEV) return error_of_leaving("make folder", root, relative);
  if (place.errno_value != 0) return error_from(place.errno_value, "make folder", root + "/" + relative);
  tree_->change(place.folder(), EntryChange{{place.name, tree_->add(FileKind::folder, mode)}});
  return {};
}

Result<void> VolatileDisk::rename(const std::string& from, const std::string& to) {
  std::lock_guard guard(tree_->mutex);
  auto fail = [&](int errno_value) { return error_from(errno_value, "rename", from + " to " + to); };
  Location old = tree_->find_node(from, FollowLinks::no);
  if (old.errno_value != 0) return fail(old.errno_value);
  Location target = tree_->find(to, FollowLinks::no);
  if (target.errno_value != 0) return fail(target.errno_value);
  if (old.name.empty() || target.name.empty()) return fail(EBUSY);
  if (target.node == old.node) return {};
  if (std::find(target.folders.begin(), target.folders.end(), old.node) != target.folders.end()) return fail(EINVAL);
  if (target.node != nullptr) {
    bool folder = old.node->kind == FileKind::folder;
    bool onto_folder = target.node->kind == FileKind::folder;
    if (onto_folder && !folder) return fail(EISDIR);
    if (folder && !onto_folder) return fail(ENOTDIR);
    if (onto_folder && !target.node->entries.empty()) return fail(ENOTEMPTY);
  }
  if (&old.folder() == &target.folder()) {
    tree_->change(old.folder(), EntryChange{{target.name, old.node}, {old.name, nullptr}});
  } else {
    tree_->change(target.folder(), EntryChange{{target.name, old.node}});
    tree_->change(old.folder(), EntryChange{{old.name, nullptr}});
  }
  return {};
}

Result<void> VolatileDisk::remove(const std::string& path) {
  std::lock_guard guard(tree_->mutex);
  Location place = tree_->find_node(path, FollowLinks::no);
  if (place.errno_value == 0 && place.node->kind == FileKind::folder) place.errno_value = EISDIR;
  if (place.errno_value != 0) return error_from(place.errno_value, "remove", path);
  tree_->change(place.folder(), EntryChange{{place.name, nullptr}});
  return {};
}

Result<void> VolatileDisk::link(const std::string& from, const std::string& to) {
  std::lock_guard guard(tree_->mutex);
  Location old = tree_->find_node(from, FollowLinks::no);
  Location place = tree_->find_free(to);
  int errno_value = old.errno_value != 0 ? old.errno_value : place.errno_value;
  if (errno_value == 0 && old.node->kind == FileKind::folder) errno_value = EPERM;
  if (errno_value != 0) return error_from(errno_value, "link", from + " to " + to);
  tree_->change(place.folder(), EntryChange{{place.name, old.node}});
  return {};
}

Result<void> VolatileDisk::symlink(const std::string& target, const std::string& path) {
  std::lock_guard guard(tree_->mutex);
  Location place = tree_->find_free(path);
  if (place.errno_value == 0 && target.empty()) place.errno_value = ENOENT;
  if (place.errno_value != 0) return error_from(place.errno_value, "make symlink", path);
  Node* node = tree_->add(FileKind::symlink, 0777);
  node->contents = node->durable_contents = target;
  tree_->change(place.folder(), EntryChange{{place.name, node}});
  return {};
}

Result<std::string> VolatileDisk::read_link(const std::string& path) {
  std::lock_guard guard(tree_->mutex);
  Location place = tree_->find_node(path, FollowLinks::no);
  if (place.errno_value == 0 && place.node->kind != FileKind::symlink) place.errno_value = EINVAL;
  if (place.errno_value != 0) return error_from(place.errno_value, "read symlink", path);
  return place.node->contents;
}

Result<void> VolatileDisk::make_folder(const std::string& path, uint32_t mode) {
  std::lock_guard guard(tree_->mutex);
  Location place = tree_->find_free(path);
  if (place.errno_value != 0) return error_from(place.errno_value, "make folder", path);
  tree_->change(place.folder(), EntryChange{{place.name, tree_->add(FileKind::folder, mode)}});
  return {};
}

Result<void> VolatileDisk::remove_folder(const std::string& path) {
  std::lock_guard guard(tree_->mutex);
  Location place = tree_->find_node(path, FollowLinks::no);
  if (place.errno_value == 0) {
    if (place.node->kind != FileKind::folder)
      place.errno_value = ENOTDIR;
    else if (!place.node->entries.empty())
      place.errno_value = ENOTEMPTY;
    else if (place.name.empty())
      place.errno_value = EBUSY;
  }
  if (place.errno_value != 0) return error_from(place.errno_value, "remove folder", path);
  tree_->change(place.folder(), EntryChange{{place.name, nullptr}});
  return {};
}

Result<std::vector<FolderEntry>> VolatileDisk::list(const std::string& path) {
  std::lock_guard guard(tree_->mutex);
  Location place = tree_->find_node(path, FollowLinks::yes);
  if (place.errno_value == 0 && place.node->kind != FileKind::folder) place.errno_value = ENOTDIR;
  if (place.errno_value != 0) return error_from(place.errno_value, "list", path);
  std::vector<FolderEntry> entries;
  for (const auto& [name, node] : place.node->entries) entries.push_back({name, node->kind});
  return entries;
}

Result<FileStat> VolatileDisk::stat(const std::string& path, FollowLinks follow) {
  std::lock_guard guard(tree_->mutex);
  Location place = tree_->find_node(path, follow);
  if (place.errno_value != 0) return error_from(place.errno_value, "stat", path);
  return Tree::stat_of(*place.node);
}

Result<void> VolatileDisk::chmod(const std::string& path, uint32_t mode) {
  std::lock_guard guard(tree_->mutex);
  Location place = tree_->find_node(path, FollowLinks::yes);
  if (place.errno_value != 0) return error_from(place.errno_value, "change the mode of", path);
  place.node->mode = mode;
  return {};
}

Result<void> VolatileDisk::sync_folder(const std::string& path) {
  std::lock_guard guard(tree_->mutex);
  Location place = tree_->find_node(path, FollowLinks::yes);
  if (place.errno_value == 0 && place.node->kind != FileKind::folder) place.errno_value = ENOTDIR;
  if (place.errno_value != 0) return error_from(place.errno_value, "sync folder", path);
  place.node->durable_entries = place.node->entries;
  place.node->entry_changes.clear();
  place.node->durable_mode = place.node->mode;
  return {};
}

}  // namespace sluice
