// Settings are filled in and proxies started; each has a core to itself.
#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>

#include "base/clock.h"
#include "base/testing_wait.h"
#include "bench/router_control.h"
#include "bench/router_proxies.h"
#include "crypto/x509.h"

namespace sluice::bench {

CertificateFiles make_certificate_of(const std::vector<std::string>& names) {
  const int64_t now_ms = RealClock().wall_ms();
  auto made = must(crypto::make_certificate(
      {.name = names[0], .names = names, .until_ms = now_ms + int64_t{90} * 86'400'000}, nullptr, now_ms));
  return {.chain = made.chain_pem, .key = std::string(made.key_pem.reveal())};
}

void write_certificate(const std::string& folder, const CertificateFiles& files) {
  std::filesystem::create_directories(folder);
  write_text(folder + "/chain.pem", files.chain);
  write_text(folder + "/key.pem", files.key);
}

std::unique_ptr<Proxy> ProxyStage::peer(const std::string& settings, std::vector<std::string> words,
                                        const std::vector<std::string>& upstreams, Front front,
                                        const std::string& certificates) {
  if (std::system(("command -v " + words[0] + " >/dev/null").c_str()) != 0) {
    std::printf("%s: left out: it is not installed\n", words[0].c_str());
    return nullptr;
  }
  int port = free_port();
  std::string text = text_of("bench/router/" + settings);
  must(!text.empty(), "run the bench in the repository's folder, which has bench/router/" + settings);
  const std::vector<std::pair<std::string, std::string>> filled = {
      {"@PORT@", std::to_string(port)},
      {"@R1@", upstreams[0]},
      {"@R2@", upstreams[1]},
      {"@DIR@", folder_.path("")},
      {"@FILES@", std::to_string(files_)},
      {"@CONNECTIONS@", std::to_string(connections())},
      {"@SCHEME@", front == Front::tls ? "https" : "http"},
      {"@PROTOCOLS@", front == Front::tls ? "h1 h2" : "h1"},
      {"@TLS@", tls_words(words[0], front, certificates)}};
  for (const auto& [mark, value] : filled) {
    for (size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += value.size()) {
      text.replace(at, mark.size(), value);
    }
  }
  std::string file = folder_.path(std::to_string(++started_) + "-" + settings);
  write_text(file, text);
  words.push_back(file);
  auto proxy = std::make_unique<Proxy>(port, Child::of_program(kProxyCore, std::move(words), file + ".log"));
  await_port(port, file + ".log");
  return proxy;
}

// What makes a listener speak TLS 1.3, and HTTP/2 by ALPN.
std::string ProxyStage::tls_words(const std::string& program, Front front, const std::string& certificates) {
  if (front == Front::clear) return "";
  const std::string pair = certificates.empty() ? folder_.path("app.pem") : certificates;
  const std::string key = folder_.path("app.key");
  if (!std::filesystem::exists(pair)) {
    const CertificateFiles files = make_certificate_of({"app.example", "127.0.0.1"});
    write_text(pair, files.chain + files.key);
    write_text(key, files.key);
    write_certificate(folder_.path("certificates/default"), files);
  }
  if (program == "haproxy") return "ssl crt " + pair + " alpn h2,http/1.1 ssl-min-ver TLSv1.3";
  if (program == "caddy") return "tls " + pair + " " + key;
  return "ssl http2; ssl_protocols TLSv1.3; ssl_certificate " + pair + "; ssl_certificate_key " + key;
}

std::unique_ptr<Proxy> ProxyStage::router(const crypto::PrivateKey& key, const std::vector<std::string>& upstreams,
                                          Front front, const std::string& certificates) {
  tls_words("router", front, certificates);
  std::string place = folder_.path("router" + std::to_string(++started_));
  std::filesystem::create_directories(place + "/home");
  std::filesystem::permissions(place + "/home", std::filesystem::perms::owner_all);
  write_text(place + "/trust.pem", key.public_key().to_pem());
  write_text(place + "/table.json", table_text(1, deployment_text(upstreams)));
  std::string program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "sluice";
  std::string log = place + "/log";
  Child process =
      Child::of_program(kProxyCore,
                        {"env", "SLUICE_HOME=" + place + "/home", program, "router", "run", "--threads", "1", "--table",
                         place + "/table.json", "--trust", place + "/trust.pem", "--access-log", "none", "--listen",
                         front == Front::tls ? "127.0.0.1:0,tls" : "127.0.0.1:0", "--certificates",
                         certificates.empty() ? folder_.path("certificates") : certificates},
                        log);
  // The first line that it prints says where it listens.
  std::string said;
  eventually([&] {
    said = text_of(log);
    return said.find('\n') != std::string::npos;
  });
  boost::system::error_code bad;
  boost::json::value facts = boost::json::parse(said.substr(0, said.find('\n')), bad);
  if (bad || !facts.is_object()) {
    std::printf("router: left out: %s\n", said.c_str());
    return nullptr;
  }
  std::string listen(facts.at("listen").at(0).as_string());
  return std::make_unique<Proxy>(std::atoi(listen.c_str() + listen.rfind(':') + 1), std::move(process),
                                 std::string(facts.at("control").as_string()));
}

}  // namespace sluice::bench
