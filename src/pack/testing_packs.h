// Packs for tests: a folder with a pack.yaml, a concept and a program.
#pragma once

#include <string>

namespace sluice::pack {

// The program of a pack that keeps notes: it answers what the concept below declares.
extern const char* const kNotesProgram;
extern const char* const kNotesConcept;

// Writes a pack of this kind into the folder, with these lines in its pack.yaml besides, and gives the folder.
std::string write_pack(const std::string& folder, const std::string& kind, const std::string& more = "",
                       const std::string& program = kNotesProgram, const std::string& concept_text = kNotesConcept);

}  // namespace sluice::pack
