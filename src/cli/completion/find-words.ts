import { createObserver } from '../ask.ts';
import type { Io, ListedCommand } from '../command.ts';
import { ID_KINDS, type IdKind, readKnownIds } from './known-ids.ts';

export async function findWords(
  typed: readonly string[],
  commands: readonly ListedCommand[],
  io: Io,
): Promise<string[]> {
  const before = typed.slice(0, -1);
  const word = typed.at(-1) ?? '';
  const listed = commands.find(({ name }) => name.split(' ').every((part, i) => before[i] === part));
  const words = listed === undefined ? nextWords(before, commands) : await wordsOf(listed, before, word, io);
  return [...new Set(words)].filter((each) => each.startsWith(word)).toSorted();
}

function nextWords(before: readonly string[], commands: readonly ListedCommand[]): string[] {
  return commands
    .map(({ name }) => name.split(' '))
    .filter((parts) => before.every((part, i) => parts[i] === part))
    .flatMap((parts) => parts[before.length] ?? []);
}

async function wordsOf(
  { name: commandName, load }: ListedCommand,
  before: readonly string[],
  word: string,
  io: Io,
): Promise<string[]> {
  const command = await load();
  const given = before.slice(commandName.split(' ').length);
  const valued = command.options.find(({ name, short, value }) => {
    const last = given.at(-1);
    return value !== undefined && (last === `--${name}` || (short !== undefined && last === `-${short}`));
  });
  // An option's value is often a file name, which the shell completes.
  if (valued !== undefined) return [];
  if (word.startsWith('-')) return [...command.options.map(({ name }) => `--${name}`), '--help', '--no-pager'];
  const isFirst = given.every((each) => each.startsWith('-'));
  const argument = isFirst ? command.args[0] : command.rest;
  return argument?.name === 'ID' ? idsFor(commandName, io) : [];
}

/**
 * The ids of current runs. None if the daemon does not answer quickly, because a user who presses Tab does not wait.
 */
async function idsFor(command: string, io: Io): Promise<string[]> {
  const kinds = command === 'wait' ? WAITED_KINDS : ID_KINDS.filter((each) => each === command.split(' ', 1)[0]);
  if (kinds.length === 0) return [];
  using client = createObserver({ args: [], options: new Map() }, io);
  const ids = await Promise.all(kinds.map(async (kind) => readKnownIds(kind, client.call.bind(client))));
  return ids.flat();
}

const WAITED_KINDS: readonly IdKind[] = ['task', 'pipeline', 'agent'];
