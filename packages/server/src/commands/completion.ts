import type { Command } from 'commander';

const scripts: Readonly<Record<string, string>> = {
  bash: `_svc() { local IFS=$'\\n'; COMPREPLY=($(svc __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)); }
complete -o default -F _svc svc
`,
  zsh: `#compdef svc
_svc() { local -a found; found=("\${(@f)$(svc __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}"); compadd -a found; }
compdef _svc svc
`,
  fish: `complete -c svc -f -a '(svc __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
};

export const completionShells = Object.keys(scripts);

export function completionScript(shell: string): string | undefined {
  return scripts[shell];
}

/** Candidates for the last of the given words, from the commands themselves. */
export function complete(program: Command, words: readonly string[]): string[] {
  const last = words.at(-1) ?? '';
  let command = program;
  for (const word of words.slice(0, -1)) {
    const inner = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (inner !== undefined) command = inner;
  }
  const help = command.createHelp();
  const candidates = last.startsWith('-')
    ? help.visibleOptions(command).flatMap((option) => option.long ?? [])
    : help.visibleCommands(command).map((inner) => inner.name());
  return candidates.filter((candidate) => candidate.startsWith(last));
}
