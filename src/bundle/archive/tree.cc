// A tree's canonical JSON is made entry by entry, so that the digest of a large tree needs no memory for its text.
#include "bundle/archive/tree.h"

#include <cassert>
#include <cstdio>
#include <functional>

#include "base/canonical_json.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"

namespace sluice::bundle {

namespace {

std::string octal(uint32_t mode) {
  char text[8];
  std::snprintf(text, sizeof text, "%04o", mode & 07777);
  return text;
}

std::string canonical_entry(const TreeEntry& entry) {
  json::object object = {{"mode", octal(entry.mode)}, {"path", entry.path}, {"type", to_string(entry.kind)}};
  if (entry.kind == EntryKind::file) {
    object.emplace("sha256", entry.sha256);
    object.emplace("size", entry.size);
  }
  if (entry.kind == EntryKind::symlink) object.emplace("target", entry.target);
  auto text = canonical(std::move(object));
  assert(text);  // names are UTF-8 and sizes small: the readers have checked them
  return *std::move(text);
}

void for_each_piece(const std::map<std::string, TreeEntry>& entries, const std::function<void(std::string_view)>& put) {
  put(R"({"entries":[)");
  bool first = true;
  for (const auto& [path, entry] : entries) {
    if (!first) put(",");
    first = false;
    put(canonical_entry(entry));
  }
  put(R"(],"schema":"sluice.tree.v1"})");
}

std::string detail_of(const TreeEntry& before, const TreeEntry& after) {
  if (before.kind != after.kind) {
    return std::string(to_string(before.kind)) + " to " + std::string(to_string(after.kind));
  }
  std::string detail;
  if (before.kind == EntryKind::symlink) detail = "target " + before.target + " to " + after.target;
  if (before.sha256 != after.sha256) {
    detail = "content, " + std::to_string(before.size) + " to " + std::to_string(after.size) + " bytes";
  }
  if (before.mode != after.mode) {
    if (!detail.empty()) detail += "; ";
    detail += "mode " + octal(before.mode) + " to " + octal(after.mode);
  }
  return detail;
}

}  // namespace

std::string_view to_string(EntryKind kind) {
  switch (kind) {
    case EntryKind::file:
      return "file";
    case EntryKind::dir:
      return "dir";
    case EntryKind::symlink:
      return "symlink";
  }
  return "";
}

void Tree::add(TreeEntry entry) {
  for (size_t slash = entry.path.rfind('/'); slash != std::string::npos && slash > 0;
       slash = entry.path.rfind('/', slash - 1)) {
    std::string above = entry.path.substr(0, slash);
    bool is_new = entries_.try_emplace(above, TreeEntry{above, EntryKind::dir, kFolderMode}).second;
    if (!is_new) break;
  }
  std::string path = entry.path;
  entries_.insert_or_assign(std::move(path), std::move(entry));
}

const TreeEntry* Tree::find(const std::string& path) const {
  auto found = entries_.find(path);
  return found == entries_.end() ? nullptr : &found->second;
}

uint64_t Tree::total_bytes() const {
  uint64_t total = 0;
  for (const auto& [path, entry] : entries_) total += entry.size;
  return total;
}

TreeDigest Tree::digest() const {
  crypto::Sha256Stream stream;
  for_each_piece(entries_, [&](std::string_view piece) { stream.update(piece); });
  return crypto::to_hex(stream.finish());
}

std::string Tree::canonical_text() const {
  std::string text;
  for_each_piece(entries_, [&](std::string_view piece) { text += piece; });
  return text;
}

std::vector<TreeChange> diff(const Tree& before, const Tree& after) {
  std::vector<TreeChange> changes;
  auto old = before.entries().begin();
  auto now = after.entries().begin();
  while (old != before.entries().end() || now != after.entries().end()) {
    if (now == after.entries().end() || (old != before.entries().end() && old->first < now->first)) {
      changes.push_back({TreeChange::What::removed, old->first, ""});
      ++old;
    } else if (old == before.entries().end() || now->first < old->first) {
      changes.push_back({TreeChange::What::added, now->first, ""});
      ++now;
    } else {
      if (old->second != now->second) {
        changes.push_back({TreeChange::What::changed, now->first, detail_of(old->second, now->second)});
      }
      ++old;
      ++now;
    }
  }
  return changes;
}

}  // namespace sluice::bundle
