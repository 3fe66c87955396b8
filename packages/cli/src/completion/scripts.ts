export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** Each script hands the words of the line to `svcctl __complete` and offers what it prints. */
export const completionScripts: Record<Shell, string> = {
  bash: `# bash completion of svcctl; load it with: source <(svcctl completion bash)
_svcctl() {
  local line="\${COMP_LINE:0:COMP_POINT}" words current prefix=""
  read -ra words <<< "$line"
  [[ "$line" == *" " ]] && words+=("")
  current="\${words[-1]}"
  # bash splits words at colons: offers must leave out what stands before the last one.
  if [[ "$current" == *:* && "$COMP_WORDBREAKS" == *:* ]]; then prefix="\${current%:*}:"; fi
  COMPREPLY=()
  local offer
  while IFS= read -r offer; do COMPREPLY+=("\${offer#"$prefix"}"); done \\
    < <(svcctl __complete "\${words[@]:1}" 2>/dev/null)
  if [[ \${#COMPREPLY[@]} -eq 1 && "\${COMPREPLY[0]}" == */ ]]; then compopt -o nospace; fi
}
complete -o default -F _svcctl svcctl
`,
  zsh: `#compdef svcctl
# zsh completion of svcctl; load it with: source <(svcctl completion zsh)
_svcctl() {
  local -a offers folders names
  offers=("\${(@f)$(svcctl __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  offers=("\${(@)offers:#}")
  folders=("\${(@M)offers:#*/}")
  names=("\${(@)offers:#*/}")
  (( \${#folders} )) && compadd -S '' -U -- "\${folders[@]}"
  (( \${#names} )) && compadd -U -- "\${names[@]}"
  (( \${#offers} )) || _files
}
compdef _svcctl svcctl
`,
  fish: `# fish completion of svcctl; load it with: svcctl completion fish | source
function __svcctl_complete
    set -l words (commandline -opc) (commandline -ct)
    svcctl __complete $words[2..-1] 2>/dev/null
end
complete -c svcctl -f -a '(__svcctl_complete)'
complete -c svcctl -n 'test -z "(__svcctl_complete)"' -F
`,
};
