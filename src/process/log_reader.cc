// A file is known by its number on the disk, which a rename does not change.
#include "process/log_reader.h"

#include <algorithm>
#include <cassert>

namespace sluice::process {
namespace {

constexpr size_t kReadChunk = 64 << 10;
constexpr size_t kHeadBytes = 64;  // of a record: its time and its stream
// A record is shorter than this; what has no end of line after so much is none.
constexpr size_t kMostRecordBytes = 64 << 10;

}  // namespace

// All files of the log, oldest first.
Result<std::vector<std::pair<uint64_t, std::string>>> LogReader::files() const {
  std::vector<std::pair<uint64_t, std::string>> found;
  for (uint32_t i = 0;; ++i) {
    std::string path = folder_ + "/" + std::string(kLogName) + (i == 0 ? "" : "." + std::to_string(i));
    auto stat = disk_.stat(path, FollowLinks::no);
    if (!stat && stat.error().code == Code::not_found) {
      // While it is turned over there may be no file of the first name.
      if (i == 0) continue;
      break;
    }
    if (!stat) return stat.error();
    found.emplace_back(stat->inode, std::move(path));
  }
  std::ranges::reverse(found);
  return found;
}

// The file after the one that is read, or the first; nothing if there is none yet.
Result<std::optional<LogReader::Following>> LogReader::following() {
  auto all = files();
  if (!all) return all.error();
  auto there = disk_.exists(folder_);
  gone_ = there && !*there;
  if (all->empty()) return std::optional<Following>();
  if (!file_) return std::optional(Following{.inode = all->front().first, .path = all->front().second});
  auto own = std::ranges::find(*all, inode_, &std::pair<uint64_t, std::string>::first);
  const bool dropped = own == all->end();
  if (!dropped && own + 1 == all->end()) return std::optional<Following>();
  auto next = dropped ? all->begin() : own + 1;
  return std::optional(Following{.inode = next->first, .path = next->second, .dropped = dropped});
}

// False if it is not there any more: it was turned over since it was seen.
Result<bool> LogReader::open(const Following& next) {
  auto file = disk_.open(next.path, {.follow = false});
  if (!file && file.error().code == Code::not_found) return false;
  if (!file) return file.error();
  auto stat = (*file)->stat();
  if (!stat) return stat.error();
  if (stat->inode != next.inode) return false;
  pending_.clear();
  begin_ = 0;
  if (next.dropped) {
    // It has the time of what follows, so that it stands in the right place.
    std::string head(kHeadBytes, '\0');
    auto got = (*file)->read_at(0, head);
    if (!got) return got.error();
    auto first = parse_log_line(std::string_view(head).substr(0, *got));
    if (first) pending_ = first->time + " sluice a part of the log was dropped before it was read\n";
  }
  file_ = std::move(*file);
  inode_ = next.inode;
  at_ = 0;
  return true;
}

// Reads on; false at the end of the file.
Result<bool> LogReader::fill() {
  pending_.erase(0, begin_);
  begin_ = 0;
  std::string chunk(kReadChunk, '\0');
  auto got = file_->read_at(at_, chunk);
  if (!got) return got.error();
  at_ += *got;
  pending_.append(chunk, 0, *got);
  return *got > 0;
}

Result<std::optional<LogLine>> LogReader::next() {
  for (;;) {
    assert(begin_ <= pending_.size());
    size_t end = pending_.find('\n', begin_);
    if (end != std::string::npos) {
      auto line = parse_log_line(std::string_view(pending_).substr(begin_, end - begin_));
      begin_ = end + 1;
      if (line) return line;
      continue;
    }
    if (pending_.size() - begin_ > kMostRecordBytes) begin_ = pending_.size();
    if (file_) {
      auto more = fill();
      if (!more) return more.error();
      if (*more) continue;
    }
    auto next = following();
    if (!next) return next.error();
    if (!*next) return std::optional<LogLine>();
    if (file_) {
      // What was written between the last look and the turn-over; it gets no more now.
      auto more = fill();
      if (!more) return more.error();
      if (*more) continue;
    }
    auto opened = open(**next);
    if (!opened) return opened.error();
  }
}

LogMerge::LogMerge(Disk& disk, const std::vector<Source>& sources, std::string since)
    : disk_(disk), since_(std::move(since)) {
  for (const Source& each : sources) add(each);
}

void LogMerge::add(const Source& source) {
  heads_.push_back({.replica = source.replica, .reader = {disk_, source.folder}});
}

Result<std::optional<ReplicaLine>> LogMerge::next() {
  Head* first = nullptr;
  for (Head& each : heads_) {
    while (!each.line || each.line->time < since_) {
      auto line = each.reader.next();
      if (!line) return line.error();
      each.line = *std::move(line);
      if (!each.line) break;
    }
    if (each.line && (first == nullptr || each.line->time < first->line->time)) first = &each;
  }
  if (first == nullptr) return std::optional<ReplicaLine>();
  ReplicaLine line{.replica = first->replica, .line = *std::move(first->line)};
  first->line.reset();
  return std::optional(std::move(line));
}

bool LogMerge::gone() const {
  return std::ranges::all_of(heads_, [](const Head& each) { return each.reader.gone(); });
}

}  // namespace sluice::process
