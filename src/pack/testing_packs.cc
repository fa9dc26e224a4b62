// A small pack in Python.
#include "pack/testing_packs.h"

#include <filesystem>

#include "base/atomic_file.h"
#include "base/real_disk.h"

namespace sluice::pack {

const char* const kNotesConcept = R"(@version(1)
concept Notes [N] {
  purpose { Keep notes in a file. }
  state {
    notes: set N
    text: N -> String
  }
  actions {
    action keep(note: N, text: String) {
      runs: effect
      retry: safe
      deadline: 10s
      -> ok(note: N, lines: Int)
      -> full(message: String) @code(limit)
      fixture first { note: "n1", text: "hello" }
    }
    action read(note: N) {
      runs: query
      -> ok(text: String)
      -> notFound(note: N) @code(not_found)
      fixture missing { note: "none" } -> notFound
    }
  }
}
)";

const char* const kNotesProgram = R"(#!/usr/bin/python3
import json, os, sys
KIND, DATA = "%KIND%", os.environ["SLUICE_PACK_DATA"]
def lines():
    try:
        return [json.loads(l) for l in open(DATA + "/notes.jsonl")]
    except FileNotFoundError:
        return []
def answer(m):
    if "describe" in m:
        return {"protocol": 1, "kind": KIND, "actions": ["keep", "read"]}
    if "health" in m:
        return {"healthy": True}
    if "invoke" in m:
        asked = m["invoke"]
        if not any(l["id"] == asked["effect"] for l in lines()):
            with open(DATA + "/notes.jsonl", "a") as file:
                file.write(json.dumps({"id": asked["effect"], **asked["input"]}) + "\n")
        given = asked["input"]
        return {"variant": "ok", "fields": {"note": given["note"], "lines": len(lines())},
                "writes": [{"relation": "Notes", "key": given["note"], "value": {"text": given["text"]}}]}
    note = m["query"]["input"]["note"]
    for l in lines():
        if l["note"] == note:
            return {"variant": "ok", "fields": {"text": l["text"]}}
    return {"variant": "notFound", "fields": {"note": note}}
for line in sys.stdin:
    m = json.loads(line)
    print(json.dumps({"id": m["id"], "complete": answer(m)}), flush=True)
)";

std::string write_pack(const std::string& folder, const std::string& kind, const std::string& more,
                       const std::string& program, const std::string& concept_text) {
  namespace fs = std::filesystem;
  fs::create_directories(folder);
  auto write = [&](const std::string& name, std::string text) {
    for (size_t at; (at = text.find("%KIND%")) != std::string::npos;) text.replace(at, 6, kind);
    RealDisk disk;
    (void)write_atomically(disk, folder + "/" + name, text, 0644);
  };
  write("pack.yaml",
        "schema: sluice.pack.v1\nkind: %KIND%\nslot: telemetry\nconcept: notes.concept\nrun: [./serve.py]\n" + more);
  write("notes.concept", concept_text);
  write("serve.py", program);
  fs::permissions(folder + "/serve.py", fs::perms(0755));
  return folder;
}

}  // namespace sluice::pack
