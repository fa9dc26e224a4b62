// TarWatch looks on while the bytes of a tar pass on their way to libarchive, and keeps what libarchive does not tell:
// names and links byte by byte (libarchive composes accents and stops at a NUL), and whether the two blocks of zeros
// that end a tar were there (libarchive takes a tar that stops between two entries for a whole one).
//
//   TarWatch watch;
//   watch.feed(piece); …                  // what libarchive is given, as it is given
//   auto names = watch.take();            // of the entry that libarchive has just told
//
// It unpacks nothing and decides nothing: where it and libarchive see different entries, the reader refuses the
// archive. Memory is bounded by the names of the pieces that were fed and not yet taken.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::bundle {

class TarWatch {
 public:
  struct Names {
    std::string path;
    std::string link;  // of a symlink or hard link

    bool operator==(const Names&) const = default;
  };

  void feed(std::string_view bytes);
  // The next entry's; none if there is no other, or if what was fed cannot be followed.
  std::optional<Names> take();
  // Two blocks of zeros stood where a header would.
  bool ended() const { return state_ == State::ended; }
  // Something else than zeros stands behind them.
  bool has_more() const { return has_more_; }

 private:
  enum class State { header, sparse_map, special, content, ended, lost };

  void block(std::string_view bytes);
  void header(std::string_view bytes);
  void end_special();
  void read_pax(std::string_view records);
  void skip(uint64_t bytes);

  State state_ = State::header;
  std::string held_;        // the beginning of a block
  uint64_t left_ = 0;       // bytes of content or of a special entry, without padding
  uint64_t padding_ = 0;    // behind them
  uint64_t after_map_ = 0;  // content behind a sparse file's map
  char special_ = 0;        // its type
  std::string body_;        // of a special entry
  int zeros_ = 0;           // blocks
  bool has_more_ = false;
  // What special entries say of the entry that follows.
  std::optional<std::string> path_;
  std::optional<std::string> link_;
  std::optional<std::string> sparse_path_;
  std::optional<uint64_t> size_;
  std::deque<Names> names_;
};

}  // namespace sluice::bundle
