" Highlighting of .sync files. Of two matches at one place the later one wins, so what a word means in its place (a
" field before `:`, a variant behind `=>`) stands below the plain words.
if exists("b:current_syntax")
  finish
endif

syn match sluiceOperator "=>\|!=\|<=\|>=\|[=<>]"
syn match sluiceWordOperator "\<\%(and\|or\|not\|in\|forall\|exists\)\>"
syn match sluiceKeyword "\<\%(when\|where\|then\|before\|over\|require\|else\|latest\|no\|as\)\>"
syn match sluiceKeyword "\<caused\s\+by\>"
syn match sluiceLiteral "\<\%(true\|false\|null\|none\|_\)\>"
syn match sluiceNumber "-\?\<\d\+\%(\.\d\+\)\?\%([eE][+-]\?\d\+\|[smhd]\)\?\>"
syn match sluiceFunction "\<\%(uuid\|now\|concat\|cond\|nameOf\)\ze("
syn match sluiceConcept "\<\u\w*\>"
syn match sluiceField "\<\h\w*\%(\.\h\w*\)*\ze\s*:"
syn match sluiceConcept "\<\u\w*\%(\.\h\w*\)\?\ze\s*:\s*{"
syn match sluiceAction "/\s*\h\w*\ze\s*:" contains=sluiceActionName
syn match sluiceAction "/\s*{[^}]*}\ze\s*:" contains=sluiceActionName
syn match sluiceActionName "\h\w*" contained
syn match sluiceVariable "?\h\w*\%(\.\h\w*\)*?\?"
syn match sluiceKeyword "\<\%(filter\|guard\|any\|bind\|each\)\>\ze\s*("
syn match sluiceKeyword "\<answer\>\ze\s*?"
syn match sluiceKeyword "\<next\>\ze\s*:"
syn match sluiceKeyword "\<view\>\ze\s*\""
syn match sluiceKeyword "\<if\>\%(\s*:\)\@!"
syn match sluiceNextAction "/\s*\h\w*\ze\s*\%(\[\|$\|\<if\>\)" contains=sluiceActionName
syn match sluiceError "\<for\s\+each\>"

syn match sluiceVariantName "\h\w*" contained
syn match sluiceOutcome "=>\s*\%(\[\s*\)\?\h\w*\>\%(\s*:\)\@!" contains=sluiceOperator,sluiceVariantName,sluiceRequested
syn match sluiceOutcome "=>\s*{[^}]*}" contains=sluiceOperator,sluiceVariantName
syn match sluiceRequested "\<requested\>" contained
syn match sluiceOutcome "\<else\s\+\h\w*" contains=sluiceElse,sluiceVariantName
syn match sluiceElse "\<else\>" contained
syn match sluiceEngine "\%(=>\|\<else\)\s*engine\s*\.\s*\h\w*" contains=sluiceOperator,sluiceElse,sluiceEngineWord,sluiceVariantName
syn match sluiceEngine "=>\s*engine\s*\.\s*{[^}]*}" contains=sluiceOperator,sluiceEngineWord,sluiceVariantName
syn match sluiceEngineWord "\<engine\>" contained

syn match sluiceName "\h\w*" contained
syn match sluiceWord "\<\%(sync\|guard\)\>" contained
syn match sluiceHead "\<guard\s\+\h\w*" contains=sluiceWord,sluiceName
syn match sluiceHead "\<sync\s\+\h\w*\%(\.\h\w*\)*" contains=sluiceWord,sluiceName nextgroup=sluiceAnnotations skipwhite
syn region sluiceAnnotations start="\[" end="\]" contained contains=sluiceAnnotation,sluiceNoEffect,sluiceComment nextgroup=sluiceAnnotations skipwhite
syn match sluiceAnnotation "\<\%(eager\|eventual\|loop\|retry\)\>" contained
syn match sluiceNoEffect "\<\%(idempotent\|local\|lazy\|required\|recommended\|optional\|integration\)\>" contained

syn match sluiceEscape "\\\%([ntr\"\\{]\|u\x\{4}\|u{\x\+}\)" contained
syn match sluiceHole "{{\s*?\?\h\w*\%(\.\h\w*\)*\s*}}" contained
syn region sluiceString start=+"+ skip=+\\.+ end=+"+ oneline contains=sluiceHole,sluiceEscape

" Free text: braces in it pair.
syn match sluiceKeyword "\<purpose\>\ze\s*:"
syn region sluiceProseBraces start="{" end="}" contained contains=sluiceProseBraces
syn region sluiceProse matchgroup=sluiceKeyword start="\<purpose\_s*{" end="}" contains=sluiceProseBraces

syn match sluiceComment "#.*$\|//.*$"

hi def link sluiceComment Comment
hi def link sluiceProse SpecialComment
hi def link sluiceProseBraces SpecialComment
hi def link sluiceString String
hi def link sluiceEscape SpecialChar
hi def link sluiceHole Special
hi def link sluiceNumber Number
hi def link sluiceLiteral Constant
hi def link sluiceKeyword Keyword
hi def link sluiceWord Keyword
hi def link sluiceElse Keyword
hi def link sluiceRequested Keyword
hi def link sluiceEngineWord Keyword
hi def link sluiceWordOperator Operator
hi def link sluiceOperator Operator
hi def link sluiceConcept Type
hi def link sluiceName Function
hi def link sluiceActionName Function
hi def link sluiceFunction Function
hi def link sluiceVariantName Constant
hi def link sluiceVariable Identifier
hi def link sluiceField Identifier
hi def link sluiceAnnotation PreProc
hi def link sluiceNoEffect Comment
hi def link sluiceError Error

let b:current_syntax = "sluice-sync"
