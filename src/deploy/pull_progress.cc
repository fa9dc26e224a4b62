// A file is renamed into its place, so a reader never sees half of it.
#include "deploy/pull_progress.h"

#include <array>
#include <cstdio>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"

namespace sluice::deploy {
namespace {

constexpr size_t kMostPullBytes = 4096;
constexpr double kMegabyte = 1e6;

std::string path_of(const std::string& folder, const std::string& revision) {
  return folder + "/" + revision + ".pull";
}

std::string megabytes(uint64_t bytes) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", static_cast<double>(bytes) / kMegabyte);
  return text.data();
}

}  // namespace

void tell_pull(Disk& disk, const std::string& folder, const std::string& revision, const PullTold& told) {
  const std::string path = path_of(folder, revision);
  {
    auto file = disk.open(path + ".new", {.write = true, .create = true, .truncate = true});
    if (!file || !(*file)->write_at(0, write(to_json(told)))) return;
  }
  (void)disk.rename(path + ".new", path);
}

void forget_pull(Disk& disk, const std::string& folder, const std::string& revision) {
  (void)disk.remove(path_of(folder, revision));
}

std::optional<PullTold> pull_of(Disk& disk, const std::string& folder, const std::string& revision) {
  auto text = read_file(disk, path_of(folder, revision), kMostPullBytes);
  auto document = text ? parse_json(*text) : text.error();
  if (!document) return std::nullopt;
  auto told = read<PullTold>(*document);
  return told ? std::optional(*std::move(told)) : std::nullopt;
}

std::string to_text(const PullTold& told) {
  std::string text = "pulling " + told.image;
  if (told.all_bytes > 0) text += ": " + megabytes(told.done_bytes) + " of " + megabytes(told.all_bytes) + " MB";
  return text;
}

}  // namespace sluice::deploy
