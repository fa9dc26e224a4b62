// Archives are looked into entry by entry, as deep as they nest, and then as bytes.
#include "bundle/secrets/secret_scan.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/terminal.h"
#include "bundle/archive/zip_directory.h"
#include "bundle/secrets/deny_list.h"

namespace sluice::bundle {

namespace {

constexpr std::string_view kNotSearched = "not searched";
constexpr const char* kHiddenName = "…";

// "./a//b/" as "a/b", fit to be shown.
std::string shown_path(std::string_view raw) {
  std::string path;
  while (!raw.empty()) {
    const size_t slash = std::min(raw.find('/'), raw.size());
    std::string_view part = raw.substr(0, slash);
    raw.remove_prefix(std::min(slash + 1, raw.size()));
    if (part.empty() || part == ".") continue;
    path += (path.empty() ? "" : "/") + printable(part);
  }
  return path;
}

}  // namespace

SecretScan::SecretScan(SecretScanOptions options) : options_(std::move(options)) {}

SecretScan::Open SecretScan::begin(const std::string& path) {
  ++report_.files;
  return {.path = path, .scanner = ContentScanner(path, report_, options_.allowed)};
}

void SecretScan::not_searched(const std::string& path, const std::string& why) {
  SecretFinding unknown{path, 0, why, finding_hash(kNotSearched, path)};
  auto same = [&](const SecretFinding& other) { return other.hash == unknown.hash; };
  if (std::ranges::any_of(report_.not_looked_into, same)) return;
  if (options_.allowed.contains(unknown.hash)) {
    ++report_.allowed;
  } else if (report_.not_looked_into.size() < kMaxFindings) {
    report_.not_looked_into.push_back(std::move(unknown));
  }
}

bool SecretScan::begins_archive(const Open& open, int nesting) {
  if (auto kind = sniff_unread(open.first)) {
    not_searched(open.path, "an archive that is not looked into (" + std::string(*kind) + ")");
    return false;
  }
  if (!sniff_for_search(std::string_view(open.first).substr(0, kSniffBytes))) return false;
  if (nesting < options_.max_nesting) return true;
  not_searched(open.path, "an archive in more than " + std::to_string(options_.max_nesting) + " others");
  return false;
}

void SecretScan::take(Open& open, std::string_view piece, int nesting) {
  if (open.sniffed) return deliver(open, piece);
  open.first += piece;
  if (open.first.size() < kSniffBytes) return;
  open.sniffed = true;
  open.is_archive = begins_archive(open, nesting);
  deliver(open, std::exchange(open.first, {}));
}

void SecretScan::deliver(Open& open, std::string_view piece) {
  if (!open.is_archive) return open.scanner.feed(piece);
  if (open.bytes.size() + piece.size() <= options_.max_nested_bytes) {
    open.bytes += piece;
    return;
  }
  not_searched(open.path, "an archive of more than " + std::to_string(options_.max_nested_bytes) + " bytes");
  open.is_archive = false;
  open.scanner.feed(std::exchange(open.bytes, {}));
  open.scanner.feed(piece);
}

void SecretScan::end(Open& open, int nesting) {
  if (!open.sniffed) {
    open.is_archive = begins_archive(open, nesting);
    deliver(open, open.first);
  }
  if (open.is_archive) {
    auto looked = look_into(open.bytes, open.path, nesting);
    if (!looked) not_searched(open.path, looked.error().message);
    return;
  }
  open.scanner.finish();
  look_for_archives(open, nesting);
}

// What begins like an archive in the middle of something else need not be one: only what can be read counts. A zip is
// known by its end, with as much before it as there is.
void SecretScan::look_for_archives(const Open& open, int nesting) {
  const ContentScanner::Inside inside = open.scanner.inside();
  if (inside.archives_at.empty()) return;
  if (nesting >= options_.max_nesting) {
    return not_searched(open.path, "an archive in more than " + std::to_string(options_.max_nesting) + " others");
  }
  if (inside.archives_at.size() >= kMaxArchivesInside) {
    not_searched(open.path, "more than " + std::to_string(kMaxArchivesInside) + " archives in one file");
  }
  const std::string too_large = "an archive of more than " + std::to_string(kMaxNestedBytes) + " bytes";
  const size_t zip_end = inside.cut ? 0 : end_of_last_zip(inside.bytes);
  size_t passed = 0;  // what ends before it was looked into
  for (size_t at : inside.archives_at) {
    if (at < passed) continue;
    std::string_view rest = inside.bytes.substr(at);
    if (rest.starts_with("PK")) {
      if (inside.cut && zip_comment_at(inside.end)) not_searched(open.path, too_large);
      if (at >= zip_end) continue;
      passed = zip_end;
      auto looked = look_into(rest.substr(0, zip_end - at), open.path, nesting);
      if (!looked) not_searched(open.path, looked.error().message);
      continue;
    }
    auto reader = open_for_search(source_of_view(rest), options_.limits);
    if (!reader) {
      if (inside.cut && rest.starts_with("hsqs")) not_searched(open.path, too_large);
      continue;
    }
    const uint64_t before = read_bytes_;
    auto looked = entries_of(**reader, open.path + "!", nesting + 1);
    auto beside = looked ? (*reader)->beside() : Result<std::vector<ByteRange>>(looked.error());
    if (beside) {
      passed = at + (beside->empty() ? rest.size() : beside->front().begin);
    } else if (beside.error().code != Code::invalid) {
      not_searched(open.path, beside.error().message);
    } else if (inside.cut && read_bytes_ > before) {
      not_searched(open.path, too_large);
    }
  }
}

Result<void> SecretScan::look_into(std::string_view bytes, const std::string& path, int nesting) {
  auto open = [&]() -> Result<std::unique_ptr<ByteSource>> { return source_of_view(bytes); };
  return archive(open, path, path + "!", nesting + 1);
}

Result<void> SecretScan::archive(const OpenSource& open, const std::string& path, const std::string& prefix,
                                 int nesting) {
  auto source = open();
  if (!source) return source.error();
  SecretReport unpacked;
  ContentScanner unpacked_bytes(path, unpacked, options_.allowed);
  unpacked_bytes.expect_bytes();
  auto own = open();
  if (!own) return own.error();
  auto reader =
      open_for_search(*std::move(source), options_.limits, [&](std::string_view piece) { unpacked_bytes.feed(piece); });
  auto looked = reader ? entries_of(**reader, prefix, nesting) : Result<void>(reader.error());
  if (looked) looked = beside_entries(**reader, **own, prefix, nesting);
  unpacked_bytes.finish();
  add_new(unpacked);
  if (auto read = bytes_of_archive(**own, path, prefix, nesting); !read) return read;
  return looked;
}

Result<void> SecretScan::beside_entries(RawReader& reader, ByteSource& source, const std::string& prefix, int nesting) {
  constexpr size_t kPieceBytes = 256 * 1024;
  auto ranges = reader.beside();
  if (!ranges) return ranges.error();
  std::string piece(kPieceBytes, '\0');
  for (const ByteRange& range : *ranges) {
    Open open = begin(prefix + std::string(range.where));
    bool is_padding = true;  // until something else comes
    for (uint64_t at = range.begin; at < range.end;) {
      auto got = source.read_at(at, std::span(piece).first(std::min<uint64_t>(piece.size(), range.end - at)));
      if (!got) return got.error();
      if (*got == 0) break;
      at += *got;
      std::string_view bytes = std::string_view(piece).substr(0, *got);
      if (is_padding) bytes.remove_prefix(std::min(bytes.find_first_not_of('\0'), bytes.size()));
      is_padding = is_padding && bytes.empty();
      take(open, bytes, nesting);
    }
    end(open, nesting);
  }
  return {};
}

Result<void> SecretScan::bytes_of_archive(ByteSource& source, const std::string& path, const std::string& prefix,
                                          int nesting) {
  constexpr size_t kPieceBytes = 256 * 1024;
  SecretReport beside;
  ContentScanner bytes(path, beside, options_.allowed);
  bytes.expect_bytes();
  std::string piece(kPieceBytes, '\0');
  std::string tail;
  for (uint64_t at = 0;; at += piece.size()) {
    auto got = source.read_at(at, piece);
    if (!got) return got.error();
    bytes.feed(std::string_view(piece).substr(0, *got));
    tail = tail.substr(tail.size() - std::min(tail.size(), kZipEndBytes)) + piece.substr(0, *got);
    if (*got < piece.size()) break;
  }
  bytes.finish();
  // A zip's comment is text, or whatever somebody has put there.
  if (auto comment_at = zip_comment_at(tail); comment_at && *comment_at < tail.size()) {
    Open comment = begin(prefix + "comment");
    take(comment, std::string_view(tail).substr(*comment_at), nesting);
    end(comment, nesting);
  }
  add_new(beside);
  return {};
}

void SecretScan::add_new(SecretReport& beside) {
  for (SecretFinding& finding : beside.findings) {
    auto same = [&](const SecretFinding& other) { return other.hash == finding.hash; };
    if (std::ranges::any_of(report_.findings, same) || report_.findings.size() >= kMaxFindings) continue;
    finding.line = 0;
    report_.findings.push_back(std::move(finding));
  }
}

Result<void> SecretScan::entry(const std::string& path, const std::string& target) {
  look_at_path(path, "");
  look_at_target(path, target, "");
  return {};
}

Result<void> SecretScan::begin_file(const std::string& path) {
  open_.clear();
  open_.push_back(begin(path));
  return {};
}

Result<void> SecretScan::content(std::string_view piece) {
  take(open_.back(), piece, 0);
  return {};
}

Result<void> SecretScan::end_file() {
  end(open_.back(), 0);
  open_.clear();
  return {};
}

// Where a name has the form of a secret, it is not shown.
void SecretScan::look_at_path(const std::string& path, const std::string& prefix) {
  auto findings_in = [&](std::string_view text) {
    SecretReport found;
    ContentScanner name(kHiddenName, found, options_.allowed);
    name.expect_bytes();
    name.feed(text);
    name.finish();
    return found;
  };
  SecretReport found = findings_in(path);
  if (found.findings.empty()) return;
  std::string shown;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    shown += (begin == 0 ? "" : "/") + (findings_in(part).findings.empty() ? part : std::string(kHiddenName));
    begin = end + 1;
  }
  // One that lies across several names hides all of them.
  for (SecretFinding& each : found.findings) each.path = prefix + (shown == path ? std::string(kHiddenName) : shown);
  add_new(found);
}

void SecretScan::look_at_target(const std::string& path, const std::string& target, const std::string& prefix) {
  if (target.empty()) return;
  ContentScanner scanner(prefix + path, report_, options_.allowed);
  scanner.feed(target);
  scanner.finish();
}

// A name counts wherever it stands in a path: archives need not list the folders that their entries lie in.
void SecretScan::judge_name(const std::string& path, bool is_folder, const std::string& prefix,
                            std::set<std::string>& judged) {
  for (size_t end = path.find('/');; end = path.find('/', end + 1)) {
    const bool is_last = end == std::string::npos;
    const std::string part = path.substr(0, end);
    auto found = denied(part, is_folder || !is_last);
    if (found && found->secret) {
      if (judged.size() >= kMaxFindings || !judged.insert(part).second) return;
      const std::string place = prefix + part;
      add_finding(report_, options_.allowed, {place, 0, std::string(found->what), finding_hash(found->what, place)});
      return;
    }
    if (is_last) return;
  }
}

Result<void> SecretScan::entries_of(RawReader& reader, const std::string& prefix, int nesting) {
  std::set<std::string> judged;
  for (uint64_t entries = 0;; ++entries) {
    auto entry = reader.next();
    if (!entry) return entry.error();
    if (!*entry) return {};
    if (entries >= options_.limits.max_entries) {
      return Error{.code = Code::limit,
                   .message = "it has more than " + std::to_string(options_.limits.max_entries) + " entries"};
    }
    const std::string inner = shown_path((*entry)->path);
    judge_name(inner, (*entry)->kind == RawEntry::Kind::dir, prefix, judged);
    look_at_path(inner, prefix);
    look_at_target(inner, (*entry)->target, prefix);
    if ((*entry)->kind != RawEntry::Kind::file && (*entry)->kind != RawEntry::Kind::hard_link) continue;
    Open open = begin(prefix + inner);
    for (;;) {
      auto piece = reader.read();
      if (!piece) return piece.error();
      if (piece->empty()) break;
      read_bytes_ += piece->size();
      if (options_.on_bytes) options_.on_bytes(piece->size());
      if (options_.stopped && options_.stopped()) return Error{.code = Code::failed, .message = "stopped"};
      if (read_bytes_ > options_.limits.max_total_bytes) {
        return Error{
            .code = Code::limit,
            .message = "it unpacks to more than " + std::to_string(options_.limits.max_total_bytes) + " bytes"};
      }
      take(open, *piece, nesting);
    }
    end(open, nesting);
  }
}

Result<SecretReport> scan_archive(Disk& disk, const std::string& path, const SecretScanOptions& options) {
  auto open = [&]() -> Result<std::unique_ptr<ByteSource>> {
    auto file = open_plain_file(disk, path);
    if (!file) return file.error();
    return source_of_file(*std::move(file));
  };
  auto source = open();
  if (!source) return source.error();
  if (auto reader = open_for_search(*std::move(source), options.limits); !reader) {
    return Error{.code = reader.error().code,
                 .message = path + ": " + reader.error().message,
                 .next = "give a bundle, a tar or a zip, or a folder"};
  }
  SecretScan scan(options);
  auto looked = scan.archive(open, path, "", 0);
  if (!looked && options.stopped && options.stopped()) return looked.error();
  if (!looked) scan.not_searched(path, looked.error().message);
  return scan.report();
}

Result<SecretReport> scan_folder(Disk& disk, const std::string& root, const std::vector<std::string>& paths,
                                 const SecretScanOptions& options) {
  SecretScan scan(options);
  auto tree = tree_of_folder(disk, root, paths, {.limits = options.limits, .watcher = &scan});
  if (!tree) return tree.error();
  return scan.report();
}

}  // namespace sluice::bundle
