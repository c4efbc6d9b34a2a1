import { createObserver } from '../ask.ts';
import type { CliCommand, Io, ListedCommand, Option } from '../command.ts';
import { findCommand } from '../help/find-command.ts';
import { HELP_GROUPS } from '../help/help-groups.ts';
import { ID_KINDS, readKnownIds, WAITED_KINDS } from './known-ids.ts';

export async function findWords(
  typed: readonly string[],
  commands: readonly ListedCommand[],
  io: Io,
): Promise<string[]> {
  const before = typed.slice(0, -1);
  const word = typed.at(-1) ?? '';
  const [first, ...rest] = before;
  if (first === 'help') return findHelpWords(rest, commands).filter((each) => each.startsWith(word));
  const listed = findCommand(before, commands);
  const own = listed === undefined ? [] : await wordsOf(listed, before, word, io);
  const words = [...nextWords(before, commands), ...own];
  return [...new Set(words)].filter((each) => each.startsWith(word)).toSorted();
}

function findHelpWords(before: readonly string[], commands: readonly ListedCommand[]): string[] {
  const groups = before.length === 0 ? HELP_GROUPS.map(({ name }) => name) : [];
  return [...new Set([...nextWords(before, commands), ...groups])].toSorted();
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
  const valued = findValued(command, given.at(-1));
  if (valued !== undefined) return valuesOf(valued, io);
  if (word.startsWith('-')) return [...command.options.map(({ name }) => `--${name}`), '--help', '--no-pager'];
  const argument = command.args[countArguments(command, given)] ?? command.rest;
  if (argument?.choices !== undefined) return [...argument.choices];
  if (argument?.name === 'NAME') return namesFor(commandName, io);
  if (argument?.name === 'TASK') return idsFor('task', io);
  return argument?.name === 'ID' ? idsFor(commandName, io) : [];
}

/** Names of the runbook. */
async function namesFor(command: string, io: Io): Promise<string[]> {
  if (command !== 'run' && command !== 'agent run') return [];
  const { listAgents, listRunnables } = await import('../run/run-help.ts');
  return command === 'run' ? listRunnables(io) : listAgents(io);
}

/** The arguments among the words, without the options and their values. */
function countArguments(command: CliCommand, given: readonly string[]): number {
  const isValue = (i: number): boolean => findValued(command, given[i - 1]) !== undefined;
  return given.filter((word, i) => !word.startsWith('-') && !isValue(i)).length;
}

function findValued({ options }: CliCommand, word: string | undefined): Option | undefined {
  return options.find(
    ({ name, short, value }) =>
      value !== undefined && (word === `--${name}` || (short !== undefined && word === `-${short}`)),
  );
}

/** None for most options: their value is often a file, which the shell completes. */
async function valuesOf({ name, choices }: Option, io: Io): Promise<string[]> {
  if (choices !== undefined) return [...choices];
  return name === 'task' || name === 'after' ? idsFor('task', io) : [];
}

/** Ids of what runs; none if the daemon does not answer quickly, since a user who presses Tab does not wait. */
async function idsFor(command: string, io: Io): Promise<string[]> {
  const kinds = command === 'wait' ? WAITED_KINDS : ID_KINDS.filter((each) => each === command.split(' ', 1)[0]);
  if (kinds.length === 0) return [];
  using client = createObserver({ args: [], options: new Map() }, io);
  const ids = await Promise.all(kinds.map(async (kind) => readKnownIds(kind, client.call.bind(client))));
  return ids.flat();
}
