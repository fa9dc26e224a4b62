// conceptc: makes C++, JSON Schema, a reference page and tests of a `.concept`. A program of the build;
// cmake/concept.cmake runs it. A file whose text would stay the same is not written, so that nothing is rebuilt for it.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>

#include "base/json.h"
#include "base/real_disk.h"
#include "lang/check/check.h"
#include "lang/codegen/generate_cpp.h"
#include "lang/codegen/generate_reference.h"
#include "lang/codegen/generate_schema.h"
#include "lang/codegen/generate_tests.h"
#include "lang/syntax/concept_parser.h"
#include "lang/syntax/text.h"

namespace sluice::lang {
namespace {

struct Options {
  std::string file;
  std::string out;
  std::string ns;
  std::string stem;
  std::string work_header;
  std::vector<std::string> handlers;
};

Result<void> write_if_changed(const std::string& path, const std::string& text) {
  RealDisk disk;
  if (auto old = disk.open(path, {}); old) {
    std::string bytes(text.size() + 1, '\0');
    auto size = (*old)->read_at(0, bytes);
    if (size && *size == text.size() && bytes.compare(0, *size, text) == 0) return {};
  }
  auto file = disk.open(path, {.write = true, .create = true, .truncate = true, .mode = 0644});
  if (!file) return file.error();
  return (*file)->write_at(0, text);
}

Result<void> write_all(const Options& options, const Concept& spec, const std::string& text) {
  CppOptions cpp{.ns = options.ns,
                 .stem = options.stem,
                 .source = std::filesystem::path(options.file).filename().string(),
                 .work_header = options.work_header};
  if (auto checked = check_options(cpp); !checked) return checked.error();
  for (const std::string& path : options.handlers) {
    auto source = read_source(path);
    if (!source) return source.error();
    cpp.handlers.push_back(*std::move(source));
  }
  auto files = generate_cpp(spec, cpp);
  if (!files) return files.error();
  std::string tests = generate_tests(spec, text, {.ns = options.ns, .stem = options.stem, .source = cpp.source});
  const std::pair<std::string, std::string> outputs[] = {
      {".gen.h", files->header},
      {".gen.cc", files->source},
      {".schema.json", write_pretty(json::value(generate_schema(spec)))},
      {".md", generate_reference(spec)},
      {".variants", generate_variants(spec)},
      {"_conformance_test.gen.cc", tests},
  };
  for (const auto& [suffix, output] : outputs) {
    std::string path = options.out;
    path.append("/").append(options.stem).append(suffix);
    if (auto written = write_if_changed(path, output); !written) return written.error();
  }
  return {};
}

int run(const Options& options) {
  auto text = read_source(options.file);
  if (!text) {
    std::cerr << render(unreadable(options.file, text.error()), "");
    return exit_code(text.error().code);
  }
  Diagnostics found;
  Concept spec = parse_whole_parts(*text, options.file, found);
  for (Diagnostic& each : found.failed() ? check_parts(spec, *text) : check_concept(spec, *text)) {
    found.add(std::move(each));
  }
  std::cerr << render(found, *text);
  if (found.failed()) return exit_code(Code::invalid);
  std::error_code failed;
  std::filesystem::create_directories(options.out, failed);
  auto written = write_all(options, spec, *text);
  if (!written) {
    std::cerr << to_string(written.error()) << "\n";
    return exit_code(written.error().code);
  }
  return 0;
}

}  // namespace
}  // namespace sluice::lang

int main(int argc, char** argv) {
  sluice::lang::Options options;
  CLI::App app{"Makes C++, JSON Schema, a reference page and tests of a .concept", "conceptc"};
  app.add_option("FILE", options.file, "the .concept")->required();
  app.add_option("--out", options.out, "folder for what is made")->required();
  app.add_option("--namespace", options.ns, "C++ namespace of what is made")->required();
  app.add_option("--stem", options.stem, "names of the files begin with it (default: the file's name)");
  app.add_option("--work-header", options.work_header, "header that defines the effects' Work structs");
  app.add_option("--handlers", options.handlers, "hand-written sources, searched for find_by_ look-ups");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    std::cerr << "conceptc: " << error.what() << "\nnext: conceptc --help\n";
    return sluice::exit_code(sluice::Code::usage);
  }
  if (options.stem.empty()) {
    options.stem = std::filesystem::path(options.file).stem().string();
    for (char& c : options.stem) c = c == '-' ? '_' : c;
  }
  if (options.work_header.empty()) options.work_header = options.stem + "_work.h";
  return sluice::lang::run(options);
}
