" Highlighting of .concept files. Of two matches at one place the later one wins, so what a word means in its place
" (a field before `:`, a variant behind `->`) stands below the plain words.
if exists("b:current_syntax")
  finish
endif

syn match sluiceOperator "->\|!=\|<=\|>=\|[=<>|]"
syn match sluiceWordOperator "\<\%(and\|or\|not\|in\|where\|forall\|exists\)\>"
syn match sluiceKeyword "\<\%(state\|actions\|capabilities\|invariant\|after\|then\|given\|when\)\>"
syn match sluiceKeyword "\<\%(example\|always\|never\|eventually\|scenario\)\>"
syn match sluiceKeyword "\<\%(forall\|invariant\)\>\ze\s*\%(\"[^\"]*\"\|\h\w*\)\?\s*:\?\s*{"
syn match sluiceContainer "\<\%(set\|list\|option\)\>"
syn match sluiceType "\<\%(String\|Int\|Float\|Bool\|Bytes\|DateTime\|ID\|Request\|Sealed\)\>"
syn match sluiceLiteral "\<\%(true\|false\|null\|none\|_\)\>"
syn match sluiceNumber "-\?\<\d\+\%(\.\d\+\)\?\%([eE][+-]\?\d\+\|[smhd]\)\?\>"
syn match sluiceCall "\<\h\w*\ze("
syn match sluiceFunction "\<\%(count\|now\|concat\)\ze("
syn match sluiceField "\<\h\w*\ze\s*:"

syn match sluiceVariantName "\h\w*" contained
syn match sluiceVariant "->\s*\%(\%(set\|list\|option\)\>\)\@!\l\w*" contains=sluiceOperator,sluiceVariantName
syn match sluiceName "\h\w*" contained
syn match sluiceWord "\<\%(concept\|action\|fixture\)\>" contained
syn match sluiceHead "\<\%(concept\|action\|fixture\)\s\+\h\w*" contains=sluiceWord,sluiceName
syn match sluiceKind "\<\%(pure\|query\|effect\|answered\|outside\|safe\|probe\|never\|sync\|syncs\|none\|changes\|shifts\|destroys\)\>" contained
syn match sluiceClause "\<\%(runs\|retry\|callers\|effect\|settlement\)\s*:\%(\s*\l\+\%(\s\+outside\>\)\?\)\?" contains=sluiceClauseWord,sluiceKind
syn match sluiceClause "\<reversal\s*:\%(\s*none\>\)\?" contains=sluiceClauseWord,sluiceKind
syn match sluiceClauseWord "\<\%(runs\|retry\|callers\|effect\|settlement\|reversal\)\>" contained
syn match sluiceKeyword "\<\%(deadline\|parallel\|requires\|timeoutMs\|anchor\|kind\|next\)\>"
syn match sluiceKeyword "\<routed\s\+by\>\ze\s*:"
syn match sluiceKeyword "\<right\>\ze\s*:"
syn match sluiceKeyword "\<else\>\ze\s*->"
syn match sluiceKeyword "\<if\>\%(\s*:\)\@!"
syn match sluiceKeyword "\<view\>\ze\s*\""
syn match sluiceHead "\<provides\s\+\h\w*" contains=sluiceProvidesWord,sluiceName
syn match sluiceProvidesWord "\<provides\>" contained
syn match sluiceEnsures "\<ensures\>\s*\%(\h\w*\)\?" contains=sluiceEnsuresWord,sluiceName
syn match sluiceEnsuresWord "\<ensures\>" contained
syn match sluiceAnnotation "@\s*\%(version\|gate\|category\|visibility\|code\)\>"
syn match sluiceFixtureField "\$\h\w*\.\h\w*"

syn match sluiceEscape "\\\%([ntr\"\\{]\|u\x\{4}\|u{\x\+}\)" contained
syn region sluiceString start=+"+ skip=+\\.+ end=+"+ oneline contains=sluiceEscape

" Free text: braces in it pair.
syn region sluiceProseBraces start="{" end="}" contained contains=sluiceProseBraces
syn region sluiceProse matchgroup=sluiceKeyword start="\<\%(purpose\|description\)\_s*{" end="}" contains=sluiceProseBraces
syn region sluiceProse matchgroup=sluiceProse start="\%(->\s*\%(\%(set\|list\|option\)\>\)\@!\l\w*\s*\)\@<={" end="}" contains=sluiceProseBraces
syn region sluiceProse matchgroup=sluiceProse start="\%()\s*\)\@<={" end="}" contains=sluiceProseBraces
" The brace behind an action's arguments opens its clauses.
syn region sluiceAction start="\<action\s\+\h\w*\s*(" end=")\%(\s*{\)\?" contains=sluiceHead,sluiceField,sluiceType,sluiceContainer,sluiceString,sluiceOperator,sluiceComment

syn match sluiceComment "#.*$\|//.*$"

hi def link sluiceComment Comment
hi def link sluiceProse SpecialComment
hi def link sluiceProseBraces SpecialComment
hi def link sluiceString String
hi def link sluiceEscape SpecialChar
hi def link sluiceNumber Number
hi def link sluiceLiteral Constant
hi def link sluiceKeyword Keyword
hi def link sluiceWord Keyword
hi def link sluiceClauseWord Keyword
hi def link sluiceProvidesWord Keyword
hi def link sluiceEnsuresWord Keyword
hi def link sluiceKind StorageClass
hi def link sluiceWordOperator Operator
hi def link sluiceOperator Operator
hi def link sluiceContainer Structure
hi def link sluiceType Type
hi def link sluiceName Function
hi def link sluiceCall Function
hi def link sluiceFunction Function
hi def link sluiceVariantName Constant
hi def link sluiceField Identifier
hi def link sluiceFixtureField Identifier
hi def link sluiceAnnotation PreProc

let b:current_syntax = "sluice-concept"
