// The rules for entries, one after the other.
#include "bundle/archive/entry_rules.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <utility>

#include "base/json_text.h"
#include "base/utf8.h"

namespace sluice::bundle {

namespace {

constexpr size_t kMaxComponentBytes = 255;  // what Linux file systems take
constexpr int kMaxLinksFollowed = 40;       // as the kernel's
// What following all symlinks of an archive may cost, in components and in pieces of the paths that they lead to: far
// more than any real one needs, about a second.
constexpr uint64_t kMaxResolveSteps = 10'000'000;
constexpr size_t kStepBytes = 32;

std::vector<std::string_view> components(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0) parts.push_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return parts;
}

}  // namespace

std::string shortened_path(std::string_view path) {
  constexpr size_t kShown = 200;
  if (path.size() <= kShown) return json_quoted(path);
  size_t end = kShown;
  while (end > 0 && (static_cast<unsigned char>(path[end]) & 0xC0) == 0x80) --end;
  return json_quoted(path.substr(0, end)) + "…";
}

uint64_t most_by_ratio(uint64_t archive_bytes, const ArchiveLimits& limits) {
  if (archive_bytes == 0) return std::numeric_limits<uint64_t>::max();
  if (archive_bytes > limits.max_total_bytes) return limits.max_total_bytes;
  return std::max(archive_bytes * limits.max_ratio, limits.ratio_free_bytes);
}

namespace {

// The text as utf8proc maps it; as it is if it is not UTF-8.
std::string mapped(std::string_view text, int options) {
  utf8proc_uint8_t* bytes = nullptr;
  utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &bytes, static_cast<utf8proc_option_t>(options | UTF8PROC_STABLE));
  std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(bytes, &std::free);
  return size < 0 ? std::string(text) : std::string(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
}

}  // namespace

std::string folded(std::string_view path) {
  bool ascii = std::all_of(path.begin(), path.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (ascii) {
    std::string lower(path);
    for (char& c : lower) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return lower;
  }
  // Case is folded after the marks have their canonical order: an iota below a letter becomes a letter of its own,
  // which an accent would otherwise be composed with.
  return mapped(mapped(path, UTF8PROC_DECOMPOSE), UTF8PROC_CASEFOLD | UTF8PROC_COMPOSE);
}

EntryRules::EntryRules(std::string archive, uint64_t archive_bytes, ArchiveLimits limits)
    : archive_(std::move(archive)), max_bytes_by_ratio_(most_by_ratio(archive_bytes, limits)), limits_(limits) {}

Error EntryRules::refuse(std::string_view path, const std::string& reason, Code code) const {
  return {.code = code, .message = archive_ + ": " + shortened_path(path) + ": " + reason};
}

Error EntryRules::refuse_all(const std::string& reason, Code code) const {
  return {.code = code, .message = archive_ + ": " + reason};
}

Result<std::string> EntryRules::plain_path(const std::string& path) const {
  if (path.empty()) return refuse(path, "an entry has no name");
  const std::vector<std::string_view> parts = components(path);
  const auto depth = static_cast<size_t>(std::ranges::count_if(parts, [](auto part) { return part != "."; }));
  if (depth > limits_.max_depth) {
    return refuse(path, "it lies deeper than " + std::to_string(limits_.max_depth) + " folders", Code::limit);
  }
  if (path.size() > limits_.max_path_bytes) {
    return refuse(path, "the path is longer than " + std::to_string(limits_.max_path_bytes) + " bytes", Code::limit);
  }
  if (!valid_utf8(path)) return refuse(path, "the name is not UTF-8");
  if (path.find('\0') != std::string::npos) return refuse(path, "the name has a NUL in it");
  if (path.front() == '/') return refuse(path, "the path is absolute");
  std::string plain;
  for (std::string_view part : parts) {
    if (part == ".") continue;
    if (part == "..") return refuse(path, "the path has \"..\" in it");
    if (part.size() > kMaxComponentBytes) {
      return refuse(path, "a name in the path is longer than 255 bytes", Code::limit);
    }
    if (!plain.empty()) plain += '/';
    plain += part;
  }
  return plain;
}

Result<void> EntryRules::check_kind(const RawEntry& raw, const std::string& path) const {
  switch (raw.kind) {
    case RawEntry::Kind::hard_link:
      return refuse(path, "it is a hard link");
    case RawEntry::Kind::device:
      return refuse(path, "it is a device");
    case RawEntry::Kind::fifo:
      return refuse(path, "it is a FIFO");
    case RawEntry::Kind::socket:
      return refuse(path, "it is a socket");
    case RawEntry::Kind::symlink:
      if (raw.target.empty()) return refuse(path, "the symlink leads nowhere");
      if (raw.target.size() > limits_.max_path_bytes) {
        return refuse(path, "the symlink's target is longer than " + std::to_string(limits_.max_path_bytes) + " bytes",
                      Code::limit);
      }
      if (!valid_utf8(raw.target)) return refuse(path, "the symlink's target is not UTF-8");
      if (raw.target.find('\0') != std::string::npos) return refuse(path, "the symlink's target has a NUL in it");
      if (raw.target.front() == '/') return refuse(path, "the symlink's target is absolute");
      return {};
    case RawEntry::Kind::file:
    case RawEntry::Kind::dir:
      return {};
  }
  return {};
}

Result<EntryRules::Node*> EntryRules::insert(const std::string& folded, Node node, const std::string& entry) {
  if (nodes_.size() >= limits_.max_entries) {
    return refuse_all("it has more than " + std::to_string(limits_.max_entries) + " entries", Code::limit);
  }
  name_bytes_ += node.path.size() + node.target.size();
  if (name_bytes_ > limits_.max_name_bytes) {
    return refuse_all("its names take more than " + std::to_string(limits_.max_name_bytes) + " bytes", Code::limit);
  }
  auto [place, is_new] = nodes_.try_emplace(folded, std::move(node));
  if (!is_new && place->second.path != entry) {
    return refuse(entry, "it differs from " + json_quoted(place->second.path) + " only in case or accents");
  }
  return &place->second;
}

Result<void> EntryRules::add(const std::string& path, EntryKind kind, const std::string& target) {
  for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string above = path.substr(0, slash);
    std::string key = folded(above);
    auto found = nodes_.find(key);
    if (found == nodes_.end()) {
      auto inserted = insert(key, {.path = above, .kind = EntryKind::dir, .implied = true}, above);
      if (!inserted) return inserted.error();
      continue;
    }
    const Node& node = found->second;
    if (node.path != above) {
      return refuse(path, "it differs from what is in " + json_quoted(node.path) + " only in case or accents");
    }
    if (node.kind == EntryKind::symlink) return refuse(path, json_quoted(above) + " above it is a symlink");
    if (node.kind == EntryKind::file) return refuse(path, json_quoted(above) + " above it is a file");
  }
  std::string key = folded(path);
  auto found = nodes_.find(key);
  if (found == nodes_.end()) {
    auto inserted = insert(key, {.path = path, .kind = kind, .target = target}, path);
    if (!inserted) return inserted.error();
    return {};
  }
  Node& node = found->second;
  if (node.path != path) {
    return refuse(path, "it differs from " + json_quoted(node.path) + " only in case or accents");
  }
  if (!node.implied || kind != EntryKind::dir) return refuse(path, "the name occurs twice");
  node.implied = false;
  return {};
}

Result<std::optional<ArchiveEntry>> EntryRules::admit(const RawEntry& raw) {
  auto path = plain_path(raw.path);
  if (!path) return path.error();
  if (auto fit = check_kind(raw, *path); !fit) return fit.error();
  if (path->empty()) {
    if (raw.kind == RawEntry::Kind::dir) return std::optional<ArchiveEntry>();
    return refuse(raw.path, "the root must be a folder");
  }
  ArchiveEntry entry{.path = *path};
  switch (raw.kind) {
    case RawEntry::Kind::dir:
      entry.kind = EntryKind::dir;
      entry.mode = kFolderMode;
      break;
    case RawEntry::Kind::symlink:
      entry.kind = EntryKind::symlink;
      entry.mode = kSymlinkMode;
      entry.target = raw.target;
      break;
    default:
      entry.mode = raw.executable ? kExecutableMode : kFileMode;
      entry.size = raw.size;
      if (entry.size) {
        // What an archive says of itself is enough to refuse it, never to trust it.
        uint64_t left = limits_.max_total_bytes - std::min(total_bytes_, limits_.max_total_bytes);
        if (*entry.size > left) {
          return refuse_all("it unpacks to more than " + std::to_string(limits_.max_total_bytes) + " bytes",
                            Code::limit);
        }
      }
  }
  if (auto added = add(entry.path, entry.kind, entry.target); !added) return added.error();
  return std::optional<ArchiveEntry>(std::move(entry));
}

Result<void> EntryRules::count_bytes(const std::string& path, uint64_t bytes) {
  total_bytes_ += bytes;
  if (total_bytes_ > limits_.max_total_bytes) {
    return refuse_all("it unpacks to more than " + std::to_string(limits_.max_total_bytes) + " bytes", Code::limit);
  }
  if (total_bytes_ > max_bytes_by_ratio_) {
    return refuse(path,
                  "the archive unpacks to more than " + std::to_string(limits_.max_ratio) +
                      " times its size, as only a bomb does",
                  Code::limit);
  }
  return {};
}

const EntryRules::Node* EntryRules::find(const std::string& path) const {
  auto found = nodes_.find(folded(path));
  return found == nodes_.end() || found->second.path != path ? nullptr : &found->second;
}

// Walks the target as the kernel would, with a stack of what is still to walk. What is not in the archive is taken as a
// plain name: it cannot lead out, except through "..", which is counted.
Result<void> EntryRules::check_target(const Node& link, uint64_t& steps) const {
  std::vector<std::string> left;
  auto push = [&](std::string_view target) {
    auto parts = components(target);
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) left.emplace_back(*part);
  };
  std::string at = link.path.substr(0, std::max<size_t>(link.path.rfind('/') + 1, 1) - 1);
  push(link.target);
  int followed = 1;
  while (!left.empty()) {
    steps += 1 + at.size() / kStepBytes;
    if (steps > kMaxResolveSteps) return refuse_all("its symlinks are too many to follow", Code::limit);
    std::string part = std::move(left.back());
    left.pop_back();
    if (part == ".") continue;
    if (part == "..") {
      if (at.empty()) return refuse(link.path, "the symlink leads out of the archive: " + json_quoted(link.target));
      size_t slash = at.rfind('/');
      at.resize(slash == std::string::npos ? 0 : slash);
      continue;
    }
    std::string next = at.empty() ? part : at + "/" + part;
    const Node* node = find(next);
    if (node != nullptr && node->kind == EntryKind::symlink) {
      if (++followed > kMaxLinksFollowed) {
        return refuse(link.path, "the symlink leads through more than 40 others, or in a circle");
      }
      push(node->target);
    } else {
      at = std::move(next);
    }
  }
  return {};
}

Result<void> EntryRules::finish() {
  // In the order of their names, so that the same archive always gets the same error.
  std::vector<const Node*> links;
  for (const auto& [key, node] : nodes_) {
    if (node.kind == EntryKind::symlink) links.push_back(&node);
  }
  std::sort(links.begin(), links.end(), [](const Node* a, const Node* b) { return a->path < b->path; });
  uint64_t steps = 0;
  for (const Node* link : links) {
    if (auto inside = check_target(*link, steps); !inside) return inside;
  }
  return {};
}

}  // namespace sluice::bundle
