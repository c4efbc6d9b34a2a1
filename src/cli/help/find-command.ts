import type { ListedCommand } from '../command.ts';

/** The command that the words begin with. `web keys` is not `web` with an argument: the longest name counts. */
export function findCommand(words: readonly string[], commands: readonly ListedCommand[]): ListedCommand | undefined {
  return commands
    .filter(({ name }) => name.split(' ').every((word, i) => words[i] === word))
    .toSorted((a, b) => a.name.length - b.name.length)
    .at(-1);
}
