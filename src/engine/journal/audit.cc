// Records are not parsed here but for how each begins: chain, seq, time and flow stand first, in one spelling, and the
// hash covers the rest.
#include "engine/journal/audit.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <unordered_map>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_text.h"
#include "crypto/base64.h"
#include "crypto/dsse.h"
#include "engine/journal/record_reader.h"
#include "engine/journal/step.h"

namespace sluice::engine {
namespace {

constexpr size_t kMaxHeadsBytes = size_t{256} << 20;  // a line a minute for years
constexpr size_t kMaxTwoHeadsBytes = 4096;

// The fields that are signed, and the beginning of the line.
std::string fields_of(const Head& head) {
  return "\"seq\":" + std::to_string(head.seq) + ",\"chain\":" + json_quoted(head.chain) +
         ",\"at\":" + std::to_string(head.at_ms);
}

struct HeadLine {
  uint64_t seq = 0;
  std::string chain;
  int64_t at = 0;
  std::string key;
  std::string signature;
};
BOOST_DESCRIBE_STRUCT(HeadLine, (), (seq, chain, at, key, signature))

// Nobody writes this file but Sluice: what is wrong with it was done to it.
std::string repair_of(const std::string& file) {
  return "sluice audit verify --heads COPY, with a copy that was kept elsewhere; if it holds, put it in the place of " +
         file;
}

// The number is 0 for a last line whose number nobody has counted.
Result<SignedHead> parse_line(std::string_view line, const std::string& file, uint32_t number) {
  auto fail = [&](Error error) {
    error.code = Code::verification_failed;
    error.next = repair_of(file);
    if (number > 0) error.position = Position{.file = file, .line = number, .column = 1};
    if (number == 0) error.message = "the last line of " + file + ": " + error.message;
    return error;
  };
  auto document = parse_json(line, file);
  if (!document) return fail(document.error());
  auto fields = read<HeadLine>(document->root);
  if (!fields) return fail(fields.error());
  auto signature = crypto::from_base64(fields->signature);
  if (!signature) {
    return fail({.code = Code::invalid, .message = signature.error().message, .path = "/signature"});
  }
  SignedHead head{.head = {.seq = fields->seq, .chain = fields->chain, .at_ms = fields->at},
                  .key_id = fields->key,
                  .signature = *signature};
  std::string spelt = write_head(head);
  spelt.pop_back();
  if (spelt != line) return fail({.code = Code::invalid, .message = "the head is not spelt as Sluice spells it"});
  return head;
}

// How a record must begin after its chain, for the row in which it stands. Empty: it begins otherwise.
bool belongs_to(std::string_view record, const store::JournalRow& row) {
  constexpr size_t kChainField = 76;  // {"chain":"…",
  if (record.size() < kChainField) return false;
  record.remove_prefix(kChainField);
  std::string seq = "\"seq\":" + std::to_string(row.seq) + ",\"at\":";
  if (!record.starts_with(seq)) return false;
  record.remove_prefix(seq.size());
  record.remove_prefix(std::min(record.find_first_not_of("-0123456789"), record.size()));
  if (row.flow == Ulid()) return record.starts_with(",\"step\":");
  return record.starts_with(",\"flow\":\"" + to_string(row.flow) + "\",");
}

// What one pass over the journal remembers.
class ChainWalk {
 public:
  ChainWalk(store::Snapshot& journal, std::span<const SignedHead> heads, std::span<const crypto::PublicKey> trusted)
      : records_(journal), trusted_(trusted) {
    for (const SignedHead& head : heads) heads_.emplace(head.head.seq, head);
    report_.chain = kFirstChain;
  }

  // False at the first fault.
  bool visit(const store::JournalRow& row) {
    uint64_t expected = report_.records + 1;
    if (row.seq != expected) {
      return fault(expected,
                   "record " + std::to_string(expected) + " is missing; the next one is " + std::to_string(row.seq));
    }
    if (!link(row)) return false;
    if (row.record.empty() && row.packed_hash.size() != kFirstChain.size()) {
      return fault(row.seq, "it has neither a record nor a hash");
    }
    auto record = records_.read(row);
    if (!record && record.error().code == Code::verification_failed) return fault(row.seq, record.error().message);
    if (!record) {
      failed_ = record.error();
      return false;
    }
    if (!check_record(row, *record) || !note(row, *record)) return false;
    if (row.record.empty()) {
      if (row.packed_hash != report_.chain) return fault(row.seq, "the packed record was changed: its hash is another");
      ++report_.packed;
    }
    ++report_.records;
    return check_heads(row.seq);
  }

  Result<AuditReport> end() && {
    if (failed_) return *failed_;
    if (!report_.fault && !heads_.empty() && heads_.rbegin()->first > report_.records) {
      const Head& head = heads_.rbegin()->second.head;
      fault(report_.records + 1, "the journal ends with record " + std::to_string(report_.records) +
                                     ", but a head was signed for record " + std::to_string(head.seq) +
                                     ": the end was cut off");
    }
    if (!report_.fault) {
      if (auto compared = compare_state(); !compared) return compared.error();
    }
    tell_unproven();
    return std::move(report_);
  }

 private:
  // What the record says of state and of heads.
  bool note(const store::JournalRow& row, std::string_view record) {
    if (record.find(R"(,"head":)") != std::string_view::npos || row.flow == Ulid()) {
      auto step = read_step(record);
      if (!step) return fault(row.seq, step.error().message);
      if (step->head != 0) noted_heads_.insert(step->head);
      if (step->kind == Step::Kind::state) return note_found(*step);
    }
    auto wrote = wrote_in(record);
    if (!wrote) return fault(row.seq, wrote.error().message);
    if (!wrote->empty() && report_.bound_from == 0) report_.bound_from = row.seq;
    for (Wrote& each : *wrote) {
      auto place = std::pair(std::move(each.relation), std::move(each.key));
      if (each.hash.empty()) {
        written_.erase(place);
      } else {
        written_[std::move(place)] = std::move(each.hash);
      }
    }
    return true;
  }

  // Rows as they were found count only where the journal knew nothing of them before.
  bool note_found(const Step& step) {
    if (report_.bound_from != 0 && step.seq != last_found_ + 1) return true;
    last_found_ = step.seq;
    if (report_.bound_from == 0) report_.bound_from = step.seq;
    for (const Wrote& each : step.wrote) written_[{each.relation, each.key}] = each.hash;
    report_.found_rows += step.wrote.size();
    return true;
  }

  Result<void> compare_state() {
    std::vector<std::string> relations;
    auto listed = records_.snapshot().relations([&](const std::string& relation) {
      relations.push_back(relation);
      return true;
    });
    if (!listed) return listed;
    for (const std::string& relation : relations) {
      auto read = records_.snapshot().scan(relation, "", [&](const store::StateRow& row) {
        ++report_.rows;
        if (report_.bound_from == 0) return true;
        auto written = written_.find({relation, row.key});
        if (written == written_.end()) {
          report_.state.push_back({relation, row.key, "no record wrote it"});
          return true;
        }
        if (written->second != state_hash(row.generation, row.value)) {
          report_.state.push_back({relation, row.key, "it is not what the journal says was written"});
        }
        written_.erase(written);
        return true;
      });
      if (!read) return read;
    }
    for (const auto& [place, hash] : written_) {
      report_.state.push_back({place.first, place.second, "it is missing"});
    }
    return {};
  }

  void tell_unproven() {
    for (uint64_t seq : noted_heads_) {
      if (!heads_.contains(seq)) report_.missing_heads.push_back(seq);
    }
    if (report_.fault) return;
    if (report_.records > report_.proven_to) {
      report_.unproven.push_back("that nothing was cut off or rewritten after record " +
                                 std::to_string(report_.proven_to) + ": no head is signed for " +
                                 std::to_string(report_.records - report_.proven_to) + " of " +
                                 std::to_string(report_.records) + " records");
    }
    if (report_.rows > 0 && report_.bound_from == 0) {
      report_.unproven.push_back("the " + std::to_string(report_.rows) +
                                 " rows of state: an earlier version wrote this journal, which does not say what was "
                                 "written; the next change binds them as they are");
    } else if (report_.found_rows > 0) {
      report_.unproven.push_back("what rows of state were before record " + std::to_string(report_.bound_from) +
                                 ": an earlier version wrote the journal up to there; that record binds " +
                                 std::to_string(report_.found_rows) + " rows as it found them");
    }
  }

  bool fault(uint64_t seq, std::string what) {
    report_.fault = AuditFault{seq, std::move(what)};
    return false;
  }

  // Calls that were denied belong to no flow and are linked to nothing.
  bool link(const store::JournalRow& row) {
    if (row.flow == Ulid()) return true;
    uint64_t& last = newest_[row.flow];
    if (row.prev != last) {
      return fault(row.seq, "it says that record " + std::to_string(row.prev) +
                                " comes before it in its flow, which is " +
                                (last == 0 ? std::string("none") : "record " + std::to_string(last)));
    }
    last = row.seq;
    return true;
  }

  bool check_record(const store::JournalRow& row, std::string_view record) {
    auto chain = chain_in(record);
    if (!chain) return fault(row.seq, chain.error().message);
    if (*chain != report_.chain) {
      return fault(row.seq, "it was not written after record " + std::to_string(row.seq - 1) +
                                " as that is now: one of the two was changed");
    }
    if (!belongs_to(record, row)) return fault(row.seq, "the record is not that of its row");
    report_.chain = chain_of(record);
    return true;
  }

  bool check_heads(uint64_t seq) {
    auto [from, to] = heads_.equal_range(seq);
    for (; from != to; ++from) {
      const SignedHead& head = from->second;
      if (head.head.chain != report_.chain) {
        return fault(seq, "a head that was signed at " + std::to_string(head.head.at_ms) +
                              " has another chain: the journal up to here was rewritten");
      }
      auto key = std::ranges::find(trusted_, head.key_id, &crypto::PublicKey::key_id);
      if (key == trusted_.end()) {
        ++report_.unsigned_heads;
      } else if (!key->verify(signed_text(head.head), head.signature)) {
        return fault(seq, "the signature of its head does not hold");
      } else {
        ++report_.heads;
        report_.proven_to = seq;
      }
    }
    return true;
  }

  RecordReader records_;
  std::span<const crypto::PublicKey> trusted_;
  std::multimap<uint64_t, SignedHead> heads_;
  std::unordered_map<Ulid, uint64_t> newest_;                           // of each flow
  std::map<std::pair<std::string, std::string>, std::string> written_;  // the hash of each row, by relation and key
  std::set<uint64_t> noted_heads_;
  uint64_t last_found_ = 0;  // the last of the records that bind what was found
  AuditReport report_;
  std::optional<Error> failed_;  // reading did
};

}  // namespace

std::string signed_text(const Head& head) {
  return crypto::pre_authentication_encoding(kHeadType, "{" + fields_of(head) + "}");
}

SignedHead sign(const Head& head, const crypto::PrivateKey& key) {
  return {.head = head,
          .key_id = key.public_key().key_id(),
          .signature = std::string(crypto::as_view(key.sign(signed_text(head))))};
}

std::string write_head(const SignedHead& head) {
  return "{" + fields_of(head.head) + ",\"key\":" + json_quoted(head.key_id) +
         ",\"signature\":" + json_quoted(crypto::to_base64(head.signature)) + "}\n";
}

Result<Heads> parse_heads(std::string_view text, const std::string& file) {
  Heads heads;
  for (uint32_t number = 1; !text.empty(); ++number) {
    size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      heads.torn = true;
      break;
    }
    auto head = parse_line(text.substr(0, end), file, number);
    if (!head) return head.error();
    if (!heads.heads.empty() && head->head.seq <= heads.heads.back().head.seq) {
      return Error{.code = Code::verification_failed,
                   .message = "the head of record " + std::to_string(head->head.seq) + " follows that of record " +
                              std::to_string(heads.heads.back().head.seq),
                   .next = repair_of(file),
                   .position = Position{.file = file, .line = number, .column = 1}};
    }
    heads.heads.push_back(*std::move(head));
    text.remove_prefix(end + 1);
  }
  return heads;
}

Result<Heads> read_heads(Disk& disk, const std::string& path) {
  auto exists = disk.exists(path);
  if (!exists) return exists.error();
  if (!*exists) return Heads{};
  auto text = read_file(disk, path, kMaxHeadsBytes);
  if (!text) return text.error();
  return parse_heads(*text, path);
}

Result<HeadLog> HeadLog::open(Disk& disk, const std::string& path) {
  auto there = disk.exists(path);
  if (!there) return there.error();
  auto file = disk.open(path, {.write = true, .create = true, .follow = false});
  if (!file) return file.error();
  if (!*there) {
    if (auto synced = disk.sync_folder(folder_of(path)); !synced) return synced.error();
  }
  auto size = (*file)->size();
  if (!size) return size.error();
  std::string end(std::min<uint64_t>(*size, kMaxTwoHeadsBytes), '\0');
  auto read = (*file)->read_at(*size - end.size(), end);
  if (!read) return read.error();
  size_t whole = end.rfind('\n') + 1;  // 0: there is no whole line
  if (whole < end.size()) {
    *size -= end.size() - whole;
    if (auto cut = (*file)->truncate(*size); !cut) return cut.error();
    end.resize(whole);
  }
  std::optional<Head> last;
  if (whole > 0) {
    size_t begin = whole < 2 ? 0 : end.rfind('\n', whole - 2) + 1;
    auto head = parse_line(std::string_view(end).substr(begin, whole - 1 - begin), path, 0);
    if (!head) return head.error();
    last = head->head;
  }
  return HeadLog(*std::move(file), *size, std::move(last));
}

Result<void> check_last_head(store::Snapshot& journal, const std::optional<Head>& last) {
  if (!last) return {};
  auto lost = [&](const std::string& what) {
    return Error{
        .code = Code::verification_failed,
        .message = "a head of the journal was signed for record " + std::to_string(last->seq) + ", but " + what,
        .next = "sluice audit verify"};
  };
  if (journal.position() < last->seq) return lost("the journal ends with record " + std::to_string(journal.position()));
  auto row = journal.journal(last->seq);
  if (!row) return row.error();
  if (!*row) return lost("that record is gone");
  std::string chain = (*row)->record.empty() ? (*row)->packed_hash : chain_of((*row)->record);
  if (chain != last->chain) return lost("that record is another now");
  return {};
}

Result<void> HeadLog::append(const SignedHead& head) {
  if (last_ && head.head.seq <= last_->seq) {
    return Error{.code = Code::conflict,
                 .message = "the head of record " + std::to_string(head.head.seq) + " cannot follow that of record " +
                            std::to_string(last_->seq)};
  }
  std::string line = write_head(head);
  if (auto written = file_->write_at(size_, line); !written) return written.error();
  if (auto synced = file_->sync(SyncWhat::contents); !synced) return synced.error();
  size_ += line.size();
  last_ = head.head;
  return {};
}

Result<AuditReport> verify(store::Snapshot& journal, std::span<const SignedHead> heads,
                           std::span<const crypto::PublicKey> trusted) {
  ChainWalk walk(journal, heads, trusted);
  auto read = journal.journal_from(1, [&](const store::JournalRow& row) { return walk.visit(row); });
  if (!read) return read.error();
  return std::move(walk).end();
}

}  // namespace sluice::engine
