// JSON: parsing, reading into structs, writing, and the canonical form of a tree of 1 MB that is parsed already.
#include <cassert>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/canonical_json.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "bench/bench.h"

namespace sluice::bench {

struct BenchPort {
  std::string name;
  uint16_t number = 0;
};
BOOST_DESCRIBE_STRUCT(BenchPort, (), (name, number))

struct BenchRevision {
  std::string deployment;
  std::string digest;
  uint32_t weight_bps = 0;
  double error_ratio = 0;
  int64_t created_ms = 0;
  bool healthy = false;
  std::optional<std::string> note;
  std::vector<BenchPort> ports;
  std::map<std::string, std::string> labels;
};
BOOST_DESCRIBE_STRUCT(BenchRevision, (),
                      (deployment, digest, weight_bps, error_ratio, created_ms, healthy, note, ports, labels))

struct BenchSnapshot {
  std::vector<BenchRevision> revisions;
};
BOOST_DESCRIBE_STRUCT(BenchSnapshot, (), (revisions))

namespace {

std::string hex(std::mt19937_64& random, size_t digits) {
  std::string text;
  while (text.size() < digits) text += "0123456789abcdef"[random() % 16];
  return text;
}

// Such revisions as a router's snapshot holds, until they fill the bytes.
BenchSnapshot snapshot_of(size_t bytes) {
  std::mt19937_64 random(1);
  BenchSnapshot snapshot;
  for (size_t size = 0; size < bytes; size += write(to_json(snapshot.revisions.back())).size() + 1) {
    BenchRevision revision{.deployment = "shop-" + hex(random, 6) + ".example",
                           .digest = "sha256:" + hex(random, 64),
                           .weight_bps = static_cast<uint32_t>(random() % 10001),
                           .error_ratio = static_cast<double>(random() % 1000000) / 1e6,
                           .created_ms = 1700000000000 + static_cast<int64_t>(random() % 100000000),
                           .healthy = random() % 2 == 0,
                           .ports = {{.name = "http", .number = 8080}, {.name = "metrics", .number = 9090}},
                           .labels = {{"team", "checkout \"" + hex(random, 4) + "\""}, {"städtchen", "Köln"}}};
    if (random() % 3 == 0) revision.note = "rolled out by hand\nafter " + hex(random, 8);
    snapshot.revisions.push_back(std::move(revision));
  }
  return snapshot;
}

}  // namespace

void json_bench(Report& report) {
  constexpr size_t kBytes = 1'000'000;
  const std::string text = write(to_json(snapshot_of(kBytes)));
  const Document document = parse_json(text).value();
  const std::string canonical_text = canonical(document.root).value();
  const BenchSnapshot snapshot = read<BenchSnapshot>(document).value();
  auto mb_per_s = [](size_t bytes, const std::function<void()>& work) {
    return static_cast<double>(bytes) / 1e6 / median_s(work, kRounds, cpu_s);
  };

  report.at_least("canonical JSON of a parsed 1 MB tree",
                  mb_per_s(canonical_text.size(), [&] { keep(canonical(document.root).value()); }), 150, "MB/s");
  report.note("parse 1 MB of JSON, with positions", mb_per_s(text.size(), [&] { keep(parse_json(text).value()); }),
              "MB/s");
  report.note("read the tree into structs", mb_per_s(text.size(), [&] { keep(read<BenchSnapshot>(document).value()); }),
              "MB/s");
  report.note("structs to a tree", mb_per_s(text.size(), [&] { keep(to_json(snapshot)); }), "MB/s");
  report.note("write the tree", mb_per_s(text.size(), [&] { keep(write(document.root)); }), "MB/s");
}

}  // namespace sluice::bench
