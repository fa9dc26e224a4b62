" Files of the Sluice language. The filetypes are named after the syntax files.
autocmd BufRead,BufNewFile *.concept setfiletype sluice-concept
autocmd BufRead,BufNewFile *.sync setfiletype sluice-sync
