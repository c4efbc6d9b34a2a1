import { createObserver } from '../ask.ts';
import type { CliCommand, Io, ListedCommand } from '../command.ts';
import { fieldsIn, listIn, shortId, textIn } from '../run/views.ts';

/** The words that could stand in the place of the last one. */
export async function findWords(
  typed: readonly string[],
  commands: readonly ListedCommand[],
  io: Io,
): Promise<string[]> {
  const before = typed.slice(0, -1);
  const word = typed.at(-1) ?? '';
  const listed = commands.find(({ name }) => name.split(' ').every((part, i) => before[i] === part));
  const words =
    listed === undefined ? nextWords(before, commands) : await wordsOf(await listed.load(), { before, word, io });
  return [...new Set(words)].filter((each) => each.startsWith(word)).toSorted();
}

/** The parts of command names that can follow. */
function nextWords(before: readonly string[], commands: readonly ListedCommand[]): string[] {
  return commands
    .map(({ name }) => name.split(' '))
    .filter((parts) => before.every((part, i) => parts[i] === part))
    .flatMap((parts) => parts[before.length] ?? []);
}

interface TypedWords {
  readonly before: readonly string[];
  readonly word: string;
  readonly io: Io;
}

async function wordsOf(command: CliCommand, { before, word, io }: TypedWords): Promise<string[]> {
  const given = before.slice(command.name.split(' ').length);
  const valued = command.options.find(({ name, short, value }) => {
    const last = given.at(-1);
    return value !== undefined && (last === `--${name}` || (short !== undefined && last === `-${short}`));
  });
  // A value, or a file: the shell knows more about those.
  if (valued !== undefined) return [];
  if (word.startsWith('-')) return [...command.options.map(({ name }) => `--${name}`), '--help'];
  const isFirst = given.every((each) => each.startsWith('-'));
  return isFirst && command.args[0]?.name === 'ID' ? idsFor(command.name, io) : [];
}

/** Ids of what is under way, where a daemon runs and answers at once: whoever presses a key does not wait. */
async function idsFor(command: string, io: Io): Promise<string[]> {
  const [group = ''] = command.split(' ');
  const field = LISTS[group];
  if (field === undefined) return [];
  const client = createObserver({ args: [], options: new Map() }, io);
  try {
    const answer = await client.call(`${group}_list`, {}, { timeoutMs: 1000 });
    const items = answer.ok ? listIn(fieldsIn(answer.result)[field]) : [];
    return items.map(({ id }) => (group === 'task' ? textIn(id) : shortId(textIn(id))));
  } finally {
    client.close();
  }
}

const LISTS: Readonly<Record<string, string>> = {
  pipeline: 'pipelines',
  agent: 'agents',
  decision: 'decisions',
  task: 'tasks',
};
