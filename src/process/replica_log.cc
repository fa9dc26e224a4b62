// Lines are gathered into one write a chunk. Nothing is synced: a log is for people, and a power cut ends the program
// too.
#include "process/replica_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

namespace sluice::process {
namespace {

constexpr size_t kMostLineBytes = 16 << 10;
constexpr size_t kTimeBytes = 24;

enum class Mark { none, goes_on, of_check };

std::string_view tag_of(Stream stream, Mark mark) {
  constexpr std::string_view kOut[] = {"out", "out+", "out~"}, kErr[] = {"err", "err+", "err~"};
  return (stream == Stream::out ? kOut : kErr)[static_cast<size_t>(mark)];
}

// Whether the text has the word, with nothing around it that a path or a name could go on with.
bool has_word(std::string_view text, std::string_view word) {
  auto goes_on = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '-' || c == '_' || c == '.';
  };
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !goes_on(text[at - 1])) && (end == text.size() || !goes_on(text[end]))) return true;
  }
  return false;
}

}  // namespace

ReplicaLog::ReplicaLog(std::string folder, LogLimits limits, const Clock& clock)
    : folder_(std::move(folder)), limits_(limits), clock_(clock) {}

void ReplicaLog::add(Stream stream, std::string_view bytes) {
  std::string& part = parts_[static_cast<size_t>(stream)];
  while (!bytes.empty()) {
    size_t room = kMostLineBytes - part.size();
    size_t end = bytes.substr(0, room).find('\n');
    bool whole = end != std::string_view::npos;
    part += bytes.substr(0, whole ? end : room);
    bytes.remove_prefix(whole ? end + 1 : std::min(room, bytes.size()));
    if (!whole && part.size() < kMostLineBytes) break;
    record(tag_of(stream, !whole ? Mark::goes_on : is_of_check(stream, part) ? Mark::of_check : Mark::none), part);
    part.clear();
  }
  write();
}

void ReplicaLog::end_line(Stream stream) {
  std::string& part = parts_[static_cast<size_t>(stream)];
  if (part.empty()) return;
  record(tag_of(stream, Mark::none), part);
  part.clear();
  write();
}

void ReplicaLog::note(std::string_view text) {
  record("sluice", text);
  write();
}

void ReplicaLog::expect_check(std::string_view path) {
  check_path_ = path;
  check_awaited_ = {true, true};
}

bool ReplicaLog::is_of_check(Stream stream, std::string_view text) {
  bool& awaited = check_awaited_[static_cast<size_t>(stream)];
  if (check_path_.empty() || (check_path_ == "/" && !awaited)) return false;
  if (!has_word(text, "GET") || !has_word(text, check_path_)) return false;
  awaited = false;
  return true;
}

void ReplicaLog::record(std::string_view tag, std::string_view text) {
  records_ += utc_text(clock_.wall_ms());
  records_ += ' ';
  records_ += tag;
  records_ += ' ';
  records_ += text;
  records_ += '\n';
}

void ReplicaLog::write() {
  if (records_.empty()) return;
  std::string records = std::exchange(records_, {});
  const uint64_t own_bytes = records.size();
  if (!file_ || size_ >= limits_.file_bytes) {
    if (!turn_over()) {
      lost_ += own_bytes;
      return;
    }
  }
  if (lost_ > 0) {
    records = utc_text(clock_.wall_ms()) + " sluice " + std::to_string(lost_) +
              " bytes of the log were lost: the disk took no more\n" + records;
  }
  ssize_t put = ::write(file_.fd(), records.data(), records.size());
  size_t written = put > 0 ? static_cast<size_t>(put) : 0;
  size_ += written;
  if (written == records.size()) {
    lost_ = 0;
    return;
  }
  lost_ += own_bytes;
  // A torn line would be joined to the next one; if even this fails, the reader drops what it cannot read.
  if (written > 0 && ::ftruncate(file_.fd(), static_cast<off_t>(size_ - written)) == 0) size_ -= written;
}

bool ReplicaLog::turn_over() {
  const std::string path = folder_ + "/" + std::string(kLogName);
  if (file_ && size_ >= limits_.file_bytes) {
    for (uint32_t i = limits_.files - 1; i > 0; --i) {
      (void)move_file(i == 1 ? path : path + "." + std::to_string(i - 1), path + "." + std::to_string(i));
    }
    if (limits_.files == 1) ::unlink(path.c_str());
    file_.reset();
  }
  auto file = open_path(path, O_WRONLY | O_CREAT | O_APPEND, 0640);
  if (!file) return false;
  struct stat found {};
  if (::fstat(file->fd(), &found) != 0) return false;
  size_ = static_cast<uint64_t>(found.st_size);
  file_ = std::move(*file);
  return true;
}

std::optional<LogLine> parse_log_line(std::string_view line) {
  if (line.size() < kTimeBytes + 2 || line[kTimeBytes - 1] != 'Z' || line[kTimeBytes] != ' ') return std::nullopt;
  LogLine parsed{.time = std::string(line.substr(0, kTimeBytes))};
  line.remove_prefix(kTimeBytes + 1);
  size_t space = line.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  std::string_view stream = line.substr(0, space);
  parsed.goes_on = stream.ends_with('+');
  parsed.of_check = stream.ends_with('~');
  if (parsed.goes_on || parsed.of_check) stream.remove_suffix(1);
  if (stream != "out" && stream != "err" && stream != "sluice") return std::nullopt;
  parsed.stream = stream;
  parsed.text = line.substr(space + 1);
  return parsed;
}

Result<std::vector<LogLine>> last_log_lines(Disk& disk, const std::string& folder, size_t most_lines,
                                            size_t most_bytes) {
  std::vector<LogLine> lines;  // the last one first
  for (uint32_t i = 0; lines.size() < most_lines && most_bytes > 0; ++i) {
    const std::string path = folder + "/" + std::string(kLogName) + (i == 0 ? "" : "." + std::to_string(i));
    auto file = disk.open(path, {});
    if (!file && file.error().code == Code::not_found) break;
    if (!file) return file.error();
    auto size = (*file)->size();
    if (!size) return size.error();
    uint64_t from = *size > most_bytes ? *size - most_bytes : 0;
    std::string bytes(static_cast<size_t>(*size - from), '\0');
    auto got = (*file)->read_at(from, bytes);
    if (!got) return got.error();
    bytes.resize(*got);
    most_bytes -= bytes.size();
    std::string_view rest = bytes;
    while (!rest.empty() && lines.size() < most_lines) {
      if (rest.ends_with('\n')) rest.remove_suffix(1);
      size_t begin = rest.rfind('\n');
      begin = begin == std::string_view::npos ? 0 : begin + 1;
      if (auto line = parse_log_line(rest.substr(begin))) lines.push_back(std::move(*line));
      rest = rest.substr(0, begin);
    }
  }
  std::ranges::reverse(lines);
  return lines;
}

}  // namespace sluice::process
