// The audit: proves that the journal is whole and unchanged. Each record holds the hash of the one before it, so the
// newest hash stands for everything below it; signed heads pin that hash from outside, in a file that only grows.
//
//   auto heads = read_heads(disk, home + "/store/audit.heads");
//   auto report = verify(*snapshot, heads->heads, {operator_key});
//   if (report->fault) …  // "record 17 was changed, taken out or put in: …"
//
// A journal that was cut is found by a head beyond its end, one that was rewritten by a head whose chain differs. What
// came after the last head given can still be cut unnoticed: keep copies of the file elsewhere.
// docs/internals/journal.md says how the same is done with a script.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "crypto/ed25519.h"
#include "store/store.h"

namespace sluice::engine {

// The journal up to and with a record.
struct Head {
  uint64_t seq = 0;
  std::string chain;  // chain_of that record
  int64_t at_ms = 0;  // when the head was signed

  bool operator==(const Head&) const = default;
};

struct SignedHead {
  Head head;
  std::string key_id;
  std::string signature;  // raw bytes

  bool operator==(const SignedHead&) const = default;
};

// What is signed: the DSSE pre-authentication encoding of this type and of the head as JSON.
inline constexpr std::string_view kHeadType = "application/vnd.sluice.audit-head+json";
std::string signed_text(const Head& head);

SignedHead sign(const Head& head, const crypto::PrivateKey& key);

// One line of the file, with its line break.
std::string write_head(const SignedHead& head);

struct Heads {
  std::vector<SignedHead> heads;
  bool torn = false;  // the last line has no end: its writer was stopped, and it counts for nothing
};

// Strict: a line that write_head would not have written, and a seq that does not grow, are errors with their line.
Result<Heads> parse_heads(std::string_view text, const std::string& file);
// No file: no heads.
Result<Heads> read_heads(Disk& disk, const std::string& path);

// The file as the writer uses it. One process at a time: whoever holds the store.
class HeadLog {
 public:
  // Makes the file if there is none, and removes a torn last line. Reads no more than the end of it.
  static Result<HeadLog> open(Disk& disk, const std::string& path);

  // Durable when it returns. The seq must be beyond that of the last head.
  Result<void> append(const SignedHead& head);
  const std::optional<Head>& last() const { return last_; }

 private:
  HeadLog(std::unique_ptr<File> file, uint64_t size, std::optional<Head> last)
      : file_(std::move(file)), size_(size), last_(std::move(last)) {}

  std::unique_ptr<File> file_;
  uint64_t size_ = 0;
  std::optional<Head> last_;
};

// Whether the journal still holds what was signed last. One that does not has lost records, or has been put back.
Result<void> check_last_head(store::Snapshot& journal, const std::optional<Head>& last);

struct AuditFault {
  uint64_t seq = 0;  // of the record at which it shows
  std::string what;

  bool operator==(const AuditFault&) const = default;
};

// A row of state that is not what the journal says.
struct StateFault {
  std::string relation, key;
  std::string what;

  bool operator==(const StateFault&) const = default;
};

struct AuditReport {
  uint64_t records = 0;
  uint64_t packed = 0;                  // of these, in the blobs of packed flows
  uint64_t heads = 0;                   // that agree with the journal and are signed by a trusted key
  uint64_t unsigned_heads = 0;          // that agree, but are signed by no key that was given
  uint64_t proven_to = 0;               // seq of the newest of the signed heads
  std::string chain;                    // of the last record
  std::optional<AuditFault> fault;      // the first
  uint64_t rows = 0;                    // of state
  uint64_t found_rows = 0;              // bound as they were found in the store of an earlier version
  uint64_t bound_from = 0;              // from this record on the journal says what was written; 0: it never does
  std::vector<StateFault> state;        // every row that differs; none if the journal itself does not hold
  std::vector<uint64_t> missing_heads;  // of which the journal says that they were signed
  std::vector<std::string> unproven;    // what nothing could be said about, in sentences

  bool holds() const { return !fault && state.empty() && missing_heads.empty(); }
};

// Reads the journal once, in order, and then the state. With no keys, heads are compared but prove nothing about who
// made them.
Result<AuditReport> verify(store::Snapshot& journal, std::span<const SignedHead> heads,
                           std::span<const crypto::PublicKey> trusted);

}  // namespace sluice::engine
