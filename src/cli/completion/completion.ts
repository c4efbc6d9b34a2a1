import { didYouMean } from '../../protocol/shape/problem.ts';
import { type CliCommand, EXIT, type ListedCommand } from '../command.ts';
import { reportProblem } from '../problems.ts';
import { printable } from '../text.ts';

/** The completion scripts. They call `baton completion --words`, so they do not depend on the commands. */
export const SCRIPTS: Readonly<Record<string, string>> = {
  // Bash splits words at colons, and replaces only the part after the last one.
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
  found=(\${(f)"$(baton completion --words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( \${#found} )); then compadd -a found; else _files; fi
}
compdef _baton baton
`,
  // The quotes keep PowerShell from consuming `--` itself. Versions before 7.3 drop the empty word.
  powershell: `Register-ArgumentCompleter -Native -CommandName baton -ScriptBlock {
  param($word, $line, $position)
  $typed = $line.Extent.Text.Substring(0, [Math]::Min($position, $line.Extent.Text.Length))
  $words = @($typed -split ' +' | Where-Object { $_ -ne '' } | Select-Object -Skip 1)
  if ($word -eq '') { $words += '' }
  baton completion --words '--' @words 2>$null | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`,
  fish: `function __baton_words
  set -l found (baton completion --words -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c baton -f -a '(__baton_words)'
`,
};

const SHELLS = Object.keys(SCRIPTS);

export function createCompletionCommand(commands: readonly ListedCommand[]): CliCommand {
  return {
    examples: [
      'baton completion bash >> ~/.bashrc',
      'baton completion zsh >> ~/.zshrc',
      'baton completion fish > ~/.config/fish/completions/baton.fish',
      'baton completion powershell >> $PROFILE',
    ],
    args: [{ name: 'SHELL', about: `One of: ${SHELLS.join(', ')}`, optional: true }],
    rest: { name: 'WORD', about: 'With --words: the words typed after baton; the last one may be incomplete' },
    options: [{ name: 'words', about: 'Print the matching words, one per line, for the scripts' }],
    async run({ args, options }, io) {
      if (options.has('words')) {
        const { findWords } = await import('./find-words.ts');
        io.out((await findWords(args, commands, io)).map((word) => `${printable(word)}\n`).join(''));
        return EXIT.ok;
      }
      const [shell = ''] = args;
      const script = SCRIPTS[shell];
      if (script !== undefined && args.length === 1) {
        io.out(script);
        return EXIT.ok;
      }
      const hint = didYouMean(shell, SHELLS) ?? `Shells: ${SHELLS.join(', ')}`;
      const message = shell === '' ? 'missing argument: SHELL' : `unknown shell: ${shell}`;
      return reportProblem({ code: 'usage', message, hint }, io, EXIT.usage);
    },
  };
}
