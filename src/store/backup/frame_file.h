// A file of frames: any bytes, one after the other, compressed with zstd as one stream. Backups and segments are such
// files.
//
//   auto writer = FrameWriter::create(disk, path);      // `conflict` if it is there
//   (*writer)->put(bytes);
//   auto facts = (*writer)->finish();                   // it is durable
//
//   auto reader = FrameReader::open(disk, path);
//   while (auto frame = (*reader)->next()) …            // none at the end
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/disk.h"
#include "base/result.h"
#include "crypto/sha256.h"

namespace sluice::store {

struct FrameFacts {
  uint64_t bytes = 0;    // of the file
  std::string digest;    // of the file, "sha256:…"
  std::string contents;  // of the frames with their lengths, uncompressed
  uint64_t frames = 0;
};
BOOST_DESCRIBE_STRUCT(FrameFacts, (), (bytes, digest, contents, frames))

class FrameWriter {
 public:
  static Result<std::unique_ptr<FrameWriter>> create(Disk& disk, const std::string& path);
  ~FrameWriter();

  Result<void> put(std::string_view frame);
  Result<FrameFacts> finish();

 private:
  struct State;
  explicit FrameWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class FrameReader {
 public:
  static Result<std::unique_ptr<FrameReader>> open(Disk& disk, const std::string& path);
  ~FrameReader();

  // `verification_failed` if it is damaged or ends within a frame.
  Result<std::optional<std::string>> next();

 private:
  struct State;
  explicit FrameReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// What stands before a frame.
std::string length_of(std::string_view frame);

// That the file is the one of which these are the facts; the frames are not looked at.
Result<void> check_frames(Disk& disk, const std::string& path, const FrameFacts& facts);

}  // namespace sluice::store
