/** All of them ask `baton completion --words` and know nothing themselves: they need not change when commands do. */
export const SCRIPTS: Readonly<Record<string, string>> = {
  // A colon ends a word for bash, and only what stands behind it is replaced.
  bash: `_baton() {
  local line=\${COMP_LINE:0:COMP_POINT} words whole
  IFS=$' \\t\\n' read -ra words <<< "$line"
  [[ $line == *' ' ]] && words+=('')
  whole=\${words[\${#words[@]}-1]}
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(baton completion --words -- "\${words[@]:1}" 2>/dev/null)" -- "$whole"))
  [[ $whole == *:* && $COMP_WORDBREAKS == *:* ]] && COMPREPLY=("\${COMPREPLY[@]#"\${whole%:*}:"}")
  return 0
}
complete -o default -F _baton baton
`,
  zsh: `_baton() {
  local -a found
  found=("\${(@f)$(baton completion --words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -a found
}
compdef _baton baton
`,
  fish: `complete -c baton -f -a '(baton completion --words -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
};
