// The text is signed by its digest, so that keys are neither encoded twice nor part of what a log might show.
#include "host/link/carried_files.h"

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "crypto/dsse.h"
#include "crypto/sha256.h"
#include "deploy/certificate_shelf.h"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::string_view kFilesSchema = "sluice.router-files.v1";
constexpr size_t kMostOneFile = size_t{1} << 20U;
constexpr size_t kMostCarried = size_t{32} << 20U;

struct CarriedCertificate {
  std::string id, chain, key;
};
BOOST_DESCRIBE_STRUCT(CarriedCertificate, (), (id, chain, key))

struct CarriedChallenge {
  std::string token, text;
};
BOOST_DESCRIBE_STRUCT(CarriedChallenge, (), (token, text))

struct CarriedText {
  std::string folder;
  std::vector<CarriedCertificate> certificates;
  std::vector<CarriedChallenge> challenges;
};
BOOST_DESCRIBE_STRUCT(CarriedText, (), (folder, certificates, challenges))

struct SignedFiles {
  std::string schema = std::string(kFilesSchema);
  int64_t token = 0;
  int64_t version = 0;
  std::string digest;
};
BOOST_DESCRIBE_STRUCT(SignedFiles, (), (schema, token, version, digest))

struct CarriedFrame {
  std::string statement;  // the envelope, as JSON
  std::string files;      // the text
};
BOOST_DESCRIBE_STRUCT(CarriedFrame, (), (statement, files))

std::string challenge_folder(const Home& home) { return (home.root() / "tls" / ".challenges").string(); }
std::string taken_path(const Home& home) { return (home.root() / "router" / "link-files.json").string(); }

template <class T>
Result<T> parsed(std::string_view text, const char* what) {
  auto document = parse_json(text, what, {.max_bytes = kMostCarried});
  if (!document) return document.error();
  return sluice::read<T>(*document);
}

bool is_token(std::string_view text) {
  return !text.empty() && text.size() <= 200 && std::ranges::all_of(text, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
  });
}

// Those that are not among them any more go.
void keep_challenges(Disk& disk, const Home& home, const std::vector<CarriedChallenge>& challenges) {
  const std::string folder = challenge_folder(home);
  (void)disk.make_folder(folder, 0700);
  std::set<std::string> wanted;
  for (const CarriedChallenge& each : challenges) {
    if (!is_token(each.token)) continue;
    wanted.insert(each.token + ".json");
    (void)write_atomically(disk, folder + "/" + each.token + ".json", each.text, 0600);
  }
  auto there = disk.list(folder);
  if (!there) return;
  for (const FolderEntry& each : *there) {
    if (!wanted.contains(each.name)) (void)disk.remove(folder + "/" + each.name);
  }
}

}  // namespace

Result<CarriedFiles> read_files(Disk& disk, const Home& home) {
  const std::string folder = (home.root() / "tls").string();
  CarriedText carried{.folder = folder};
  if (auto all = disk.list(folder)) {
    for (const FolderEntry& each : *all) {
      if (!deploy::is_certificate_id(each.name)) continue;
      auto chain = read_file(disk, folder + "/" + each.name + "/chain.pem", kMostOneFile);
      auto key = read_file(disk, folder + "/" + each.name + "/key.pem", kMostOneFile);
      if (chain && key) carried.certificates.push_back({each.name, *std::move(chain), *std::move(key)});
    }
  }
  if (auto all = disk.list(challenge_folder(home))) {
    for (const FolderEntry& each : *all) {
      auto text = read_file(disk, challenge_folder(home) + "/" + each.name, kMostOneFile);
      if (text && each.name.ends_with(".json")) {
        carried.challenges.push_back({each.name.substr(0, each.name.size() - 5), *std::move(text)});
      }
    }
  }
  std::ranges::sort(carried.certificates, {}, &CarriedCertificate::id);
  std::ranges::sort(carried.challenges, {}, &CarriedChallenge::token);
  CarriedFiles files{.text = write(::sluice::to_json(carried))};
  files.digest = crypto::to_string(crypto::sha256(files.text));
  return files;
}

Result<std::string> sign_files(const CarriedFiles& files, const FilesVersion& version, const crypto::PrivateKey& key) {
  const SignedFiles statement{.token = version.token, .version = version.version, .digest = files.digest};
  auto envelope = crypto::sign_envelope(kFilesType, write(::sluice::to_json(statement)), std::span(&key, 1));
  if (!envelope) return envelope.error();
  return write(::sluice::to_json(CarriedFrame{.statement = crypto::write_envelope(*envelope), .files = files.text}));
}

FilesVersion files_taken(Disk& disk, const Home& home) {
  auto text = read_file(disk, taken_path(home), kMostOneFile);
  auto taken = text ? parsed<FilesVersion>(*text, "link-files.json") : Result<FilesVersion>(text.error());
  return taken ? *taken : FilesVersion();
}

Result<KeptFiles> keep_files(Disk& disk, const Home& home, std::string_view carried,
                             std::span<const crypto::PublicKey> trusted, int64_t now_ms) {
  auto frame = parsed<CarriedFrame>(carried, "files");
  if (!frame) return frame.error();
  auto envelope = crypto::parse_envelope(frame->statement, "files");
  if (!envelope) return envelope.error();
  if (envelope->payload_type != kFilesType || crypto::verified_key_ids(*envelope, trusted).empty()) {
    return Error{.code = Code::verification_failed,
                 .message = "the certificates are not signed by a key that this router trusts"};
  }
  auto statement = parsed<SignedFiles>(envelope->payload, "files");
  if (!statement) return statement.error();
  if (statement->schema != kFilesSchema || statement->digest != crypto::to_string(crypto::sha256(frame->files))) {
    return Error{.code = Code::verification_failed, .message = "the certificates are not those that were signed"};
  }
  const FilesVersion version{.token = statement->token, .version = statement->version};
  if (version < files_taken(disk, home)) {
    return Error{.code = Code::conflict, .message = "these certificates are older than those that this router has"};
  }
  auto text = parsed<CarriedText>(frame->files, "files");
  if (!text) return text.error();
  if (auto tls = home.folder("tls"); !tls) return tls.error();
  deploy::CertificateShelf shelf(disk, home.root().string());
  KeptFiles kept{.folder = text->folder};
  std::set<std::string> wanted;
  for (const CarriedCertificate& each : text->certificates) {
    if (!deploy::is_certificate_id(each.id)) continue;
    wanted.insert(each.id);
    auto done = shelf.keep(each.id, each.chain, each.key, now_ms);
    if (done) shelf.settle(*done);
    if (!done) kept.left_out.push_back(each.id + ": " + done.error().message);
  }
  if (auto there = disk.list(shelf.folder())) {
    for (const FolderEntry& each : *there) {
      if (deploy::is_certificate_id(each.name) && !wanted.contains(each.name)) (void)shelf.remove(each.name);
    }
  }
  keep_challenges(disk, home, text->challenges);
  auto noted = write_atomically(disk, taken_path(home), write(::sluice::to_json(version)), 0600);
  if (!noted) return noted.error();
  return kept;
}

}  // namespace sluice::host
