// Sluice's cryptography as a program, so that a test can set it beside the openssl command. Messages come on standard
// input, results go to standard output; a refusal is a line on standard error and the exit code of its kind.
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "crypto/aead.h"
#include "crypto/dsse.h"
#include "crypto/hex.h"
#include "crypto/hmac.h"
#include "crypto/key_file.h"
#include "crypto/sha256.h"

namespace {

using namespace sluice;
using namespace sluice::crypto;

constexpr size_t kMaxFileBytes = 16 << 20;

constexpr std::string_view kUsage =
    "usage: crypto_tool generate KEY | public KEY | id KEY | sign KEY | verify PUBLIC-KEY SIGNATURE |\n"
    "       hmac HEX-KEY | sha256 | seal HEX-KEY ASSOCIATED | open HEX-KEY ASSOCIATED | envelope TYPE KEY |\n"
    "       payload PUBLIC-KEY\n";

std::string read_input() { return {std::istreambuf_iterator<char>(std::cin), {}}; }

int refuse(const Error& error) {
  std::cerr << to_string(error) << '\n';
  if (!error.next.empty()) std::cerr << error.next << '\n';
  return exit_code(error.code);
}

Result<PublicKey> load_public_key(Disk& disk, const std::string& path) {
  auto text = read_file(disk, path, kMaxFileBytes);
  if (!text) return text.error();
  return PublicKey::from_pem(*text);
}

Result<Aead> aead_with(const std::string& hex) {
  auto key = from_hex(hex);
  if (!key) return key.error();
  return Aead::with_key(SecretBuffer::copy_of(*key));
}

Error not_verified() { return {.code = Code::verification_failed, .message = "the signature does not hold"}; }

// What the command writes.
Result<std::string> run(Disk& disk, const std::string& command, const std::vector<std::string>& words) {
  if (command == "sha256" && words.empty()) return to_string(sha256(read_input())) + "\n";
  if (command == "generate" && words.size() == 1) {
    auto stored = store_private_key(disk, words[0], PrivateKey::generate());
    if (!stored) return stored.error();
    return std::string();
  }
  if ((command == "public" || command == "id" || command == "sign") && words.size() == 1) {
    auto key = load_private_key(disk, words[0]);
    if (!key) return key.error();
    if (command == "public") return key->public_key().to_pem();
    if (command == "id") return key->public_key().key_id() + "\n";
    return std::string(as_view(key->sign(read_input())));
  }
  if (command == "verify" && words.size() == 2) {
    auto key = load_public_key(disk, words[0]);
    if (!key) return key.error();
    auto signature = read_file(disk, words[1], kMaxFileBytes);
    if (!signature) return signature.error();
    if (!key->verify(read_input(), *signature)) return not_verified();
    return std::string("verified\n");
  }
  if (command == "hmac" && words.size() == 1) {
    auto key = from_hex(words[0]);
    if (!key) return key.error();
    return to_hex(Hmac(*key).mac(read_input())) + "\n";
  }
  if ((command == "seal" || command == "open") && words.size() == 2) {
    auto aead = aead_with(words[0]);
    if (!aead) return aead.error();
    RealRandom random;
    if (command == "seal") return aead->seal(read_input(), words[1], random);
    auto opened = aead->open(read_input(), words[1]);
    if (!opened) return opened.error();
    return std::string(opened->reveal());
  }
  if (command == "envelope" && words.size() == 2) {
    auto key = load_private_key(disk, words[1]);
    if (!key) return key.error();
    auto envelope = sign_envelope(words[0], read_input(), std::span(&*key, 1));
    if (!envelope) return envelope.error();
    return write_envelope(*envelope);
  }
  if (command == "payload" && words.size() == 1) {
    auto key = load_public_key(disk, words[0]);
    if (!key) return key.error();
    auto envelope = parse_envelope(read_input());
    if (!envelope) return envelope.error();
    if (verified_key_ids(*envelope, std::span(&*key, 1)).empty()) return not_verified();
    return envelope->payload;
  }
  return Error{.code = Code::usage, .message = std::string(kUsage)};
}

}  // namespace

int main(int argc, char** argv) {
  RealDisk disk;
  std::vector<std::string> words(argv + 1, argv + argc);
  const std::string command = words.empty() ? "" : words.front();
  if (!words.empty()) words.erase(words.begin());
  auto output = run(disk, command, words);
  if (!output) return refuse(output.error());
  std::fwrite(output->data(), 1, output->size(), stdout);
  return 0;
}
