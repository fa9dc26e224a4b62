// One loop for all, as all are rows of frames; each says how a frame begins and unpacks the next piece of it.
#include "bundle/archive/decompress.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <string>

#include "bundle/archive/byte_feed.h"

namespace sluice::bundle {

namespace {

constexpr size_t kPieceBytes = 256 * 1024;
constexpr int kGzipWithSums = 16 + MAX_WBITS;

class Frames : public Decompressor {
 public:
  explicit Frames(ByteSource& source) : source_(source), buffer_(kPieceBytes, '\0'), unpacked_(kPieceBytes, '\0') {}

  Result<std::string_view> next() final {
    while (!ended_) {
      if (input_.empty()) {
        auto got = source_.read_at(at_, buffer_);
        if (!got) return got.error();
        at_ += *got;
        input_ = std::string_view(buffer_).substr(0, *got);
      }
      const bool at_end = input_.empty();
      auto step = unpack(input_, unpacked_);
      if (!step) return step.error();
      if (step->frame_ended) {
        auto more = begins_frame();
        if (!more) return more.error();
        ended_ = !*more;
      } else if (at_end && step->bytes == 0) {
        return ends_early();
      }
      if (step->bytes > 0) return std::string_view(unpacked_).substr(0, step->bytes);
    }
    return std::string_view();
  }

  uint64_t used() const final { return at_ - input_.size(); }

 protected:
  struct Step {
    size_t bytes = 0;  // that were unpacked
    bool frame_ended = false;
  };
  // Takes from the front of `input`. After the end of a frame it is called for the next one.
  virtual Result<Step> unpack(std::string_view& input, std::string& into) = 0;
  virtual bool begins_frame(std::string_view first_bytes) const = 0;

 private:
  Result<bool> begins_frame() {
    std::string first(8, '\0');
    auto got = source_.read_at(used(), first);
    if (!got) return got.error();
    return begins_frame(std::string_view(first).substr(0, *got));
  }

  ByteSource& source_;
  std::string buffer_;
  std::string unpacked_;
  std::string_view input_;  // of buffer_, what was not unpacked yet
  uint64_t at_ = 0;         // in the source, where input_ ends
  bool ended_ = false;
};

class GzipFrames final : public Frames {
 public:
  explicit GzipFrames(ByteSource& source) : Frames(source) { ready_ = inflateInit2(&stream_, kGzipWithSums) == Z_OK; }
  ~GzipFrames() override {
    if (ready_) inflateEnd(&stream_);
  }

 private:
  Result<Step> unpack(std::string_view& input, std::string& into) override {
    if (!ready_) return Error{.code = Code::limit, .message = "there is not enough memory to read it"};
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));  // zlib only reads it
    stream_.avail_in = static_cast<uInt>(input.size());
    stream_.next_out = reinterpret_cast<Bytef*>(into.data());
    stream_.avail_out = static_cast<uInt>(into.size());
    const int status = inflate(&stream_, Z_NO_FLUSH);
    input.remove_prefix(input.size() - stream_.avail_in);
    const Step step{.bytes = into.size() - stream_.avail_out, .frame_ended = status == Z_STREAM_END};
    if (step.frame_ended) {
      (void)inflateReset(&stream_);
      has_frame_ = true;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      const std::string said = stream_.msg == nullptr ? "" : stream_.msg;
      // Two letters are all that was known of it.
      if (!has_frame_ && stream_.total_out == 0 &&
          (said.find("header") != std::string::npos || said.find("method") != std::string::npos)) {
        return Error{.code = Code::invalid, .message = "there is no tar in it"};
      }
      return Error{.code = Code::invalid, .message = "the archive is damaged" + (said.empty() ? "" : ": " + said)};
    }
    return step;
  }
  bool begins_frame(std::string_view first_bytes) const override { return first_bytes.starts_with("\x1f\x8b\x08"); }

  z_stream stream_{};
  bool ready_ = false;
  bool has_frame_ = false;
};

class ZstdFrames final : public Frames {
 public:
  explicit ZstdFrames(ByteSource& source) : Frames(source), stream_(ZSTD_createDStream()) {}

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };

  Result<Step> unpack(std::string_view& input, std::string& into) override {
    if (!stream_) return Error{.code = Code::limit, .message = "there is not enough memory to read it"};
    ZSTD_inBuffer in{.src = input.data(), .size = input.size(), .pos = 0};
    ZSTD_outBuffer out{.dst = into.data(), .size = into.size(), .pos = 0};
    const size_t status = ZSTD_decompressStream(stream_.get(), &out, &in);
    input.remove_prefix(in.pos);
    if (ZSTD_isError(status) == 0) return Step{.bytes = out.pos, .frame_ended = status == 0};
    if (ZSTD_getErrorCode(status) == ZSTD_error_frameParameter_windowTooLarge) {
      return Error{.code = Code::limit, .message = "it was compressed with a window of more than 128 MiB"};
    }
    return Error{.code = Code::invalid, .message = std::string("the archive is damaged: ") + ZSTD_getErrorName(status)};
  }
  bool begins_frame(std::string_view first_bytes) const override {
    return sniff(first_bytes) == ArchiveFormat::tar_zst;
  }

  std::unique_ptr<ZSTD_DStream, Free> stream_;
};

class XzFrames final : public Frames {
 public:
  explicit XzFrames(ByteSource& source) : Frames(source) { begin(); }
  ~XzFrames() override { lzma_end(&stream_); }

 private:
  static constexpr uint64_t kMaxMemoryBytes = 256 << 20;

  void begin() { ready_ = lzma_stream_decoder(&stream_, kMaxMemoryBytes, 0) == LZMA_OK; }

  Result<Step> unpack(std::string_view& input, std::string& into) override {
    if (!ready_) return Error{.code = Code::limit, .message = "there is not enough memory to read it"};
    stream_.next_in = reinterpret_cast<const uint8_t*>(input.data());
    stream_.avail_in = input.size();
    stream_.next_out = reinterpret_cast<uint8_t*>(into.data());
    stream_.avail_out = into.size();
    const lzma_ret status = lzma_code(&stream_, LZMA_RUN);
    input.remove_prefix(input.size() - stream_.avail_in);
    const Step step{.bytes = into.size() - stream_.avail_out, .frame_ended = status == LZMA_STREAM_END};
    if (step.frame_ended) {
      begin();
    } else if (status == LZMA_MEM_ERROR || status == LZMA_MEMLIMIT_ERROR) {
      return Error{.code = Code::limit, .message = "more than 256 MiB of memory are needed to read it"};
    } else if (status != LZMA_OK && status != LZMA_BUF_ERROR) {
      return Error{.code = Code::invalid, .message = "the archive is damaged"};
    }
    return step;
  }
  bool begins_frame(std::string_view first_bytes) const override {
    return sniff_for_search(first_bytes) == ArchiveFormat::tar_xz;
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool ready_ = false;
};

}  // namespace

std::unique_ptr<Decompressor> decompress_xz(ByteSource& source) { return std::make_unique<XzFrames>(source); }
std::unique_ptr<Decompressor> decompress_gzip(ByteSource& source) { return std::make_unique<GzipFrames>(source); }
std::unique_ptr<Decompressor> decompress_zstd(ByteSource& source) { return std::make_unique<ZstdFrames>(source); }

}  // namespace sluice::bundle
