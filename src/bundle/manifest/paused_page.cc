// A page is named as its path in the tree: symlinks are not followed, as an archive has none to follow.
#include "bundle/manifest/paused_page.h"

#include <algorithm>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/terminal.h"
#include "base/utf8.h"
#include "bundle/archive/archive_reader.h"

namespace sluice::bundle {
namespace {

std::string page_path(const Manifest& manifest) {
  return std::filesystem::path(manifest.paused.page->text).lexically_normal().string();
}

Error unfit(const std::string& path, const std::string& why, const std::string& next = "") {
  return {.code = Code::invalid,
          .message = "the page " + printable(path) + " " + why,
          .next = next,
          .path = "/paused/page"};
}

Error missing(const std::string& path) {
  return unfit(path, "is not in the bundle",
               "put it into the folder, where neither include nor .sluiceignore leaves it out");
}

Result<std::optional<std::string>> sound_page(const std::string& path, std::string text) {
  if (text.size() > kMaxPageBytes) return unfit(path, "has more than 64 KB");
  if (text.empty()) return unfit(path, "is empty");
  if (!valid_utf8(text)) return unfit(path, "is not UTF-8");
  return std::optional(std::move(text));
}

}  // namespace

std::string_view page_type(std::string_view path) {
  if (path.ends_with(".html")) return "text/html; charset=utf-8";
  if (path.ends_with(".txt")) return "text/plain; charset=utf-8";
  if (path.ends_with(".json")) return "application/json";
  return "";
}

Result<std::optional<std::string>> page_of_folder(Disk& disk, const Manifest& manifest, const std::string& folder,
                                                  const std::vector<std::string>& paths) {
  if (!manifest.paused.page) return std::optional<std::string>();
  const std::string path = page_path(manifest);
  if (std::ranges::find(paths, path) == paths.end()) return missing(path);
  auto there = disk.stat(folder + "/" + path, FollowLinks::no);
  if (!there) return there.error();
  if (there->kind != FileKind::file) return unfit(path, "is no file");
  auto text = read_file(disk, folder + "/" + path, kMaxPageBytes);
  if (!text && text.error().code == Code::limit) return sound_page(path, std::string(kMaxPageBytes + 1, ' '));
  if (!text) return text.error();
  return sound_page(path, *std::move(text));
}

Result<std::optional<std::string>> page_of_archive(Disk& disk, const Manifest& manifest, const std::string& archive) {
  if (!manifest.paused.page) return std::optional<std::string>();
  const std::string path = page_path(manifest);
  auto reader = open_archive(disk, archive);
  if (!reader) return reader.error();
  for (;;) {
    auto entry = (*reader)->next();
    if (!entry) return entry.error();
    if (!*entry) return missing(path);
    if ((*entry)->path != path) continue;
    if ((*entry)->kind != EntryKind::file) return unfit(path, "is no file");
    std::string text;
    while (text.size() <= kMaxPageBytes) {
      auto piece = (*reader)->read();
      if (!piece) return piece.error();
      if (piece->empty()) break;
      text += piece->substr(0, kMaxPageBytes + 1 - text.size());
    }
    return sound_page(path, std::move(text));
  }
}

}  // namespace sluice::bundle
