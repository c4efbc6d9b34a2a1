import { EXIT, type CliCommand, type ListedCommand } from '../command.ts';
import { findNearest } from '../../protocol/shape/suggest.ts';
import { printable } from '../text.ts';
import { SCRIPTS } from './scripts.ts';

const SHELLS = Object.keys(SCRIPTS);

/** It is handed the commands that it completes, and is one of them. */
export function createCompletionCommand(commands: readonly ListedCommand[]): CliCommand {
  return {
    name: 'completion',
    summary: 'Print a shell completion script',
    examples: [
      'baton completion bash >> ~/.bashrc',
      'baton completion zsh >> ~/.zshrc',
      'baton completion fish > ~/.config/fish/completions/baton.fish',
    ],
    args: [{ name: 'SHELL', about: `One of: ${SHELLS.join(', ')}`, optional: true }],
    rest: { name: 'WORD', about: 'With --words: what was typed after baton, the last word as far as it goes' },
    options: [{ name: 'words', about: 'Print the words that fit, one a line: what the scripts ask' }],
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
      const nearest = findNearest(shell, SHELLS);
      const hint = nearest === undefined ? `There are: ${SHELLS.join(', ')}` : `Did you mean ${nearest}?`;
      io.err(
        `Error: ${shell === '' ? 'missing argument: SHELL' : `unknown shell: ${printable(shell)}`}\n  hint: ${hint}\n`,
      );
      return EXIT.usage;
    },
  };
}
