import { createObserver } from '../ask.ts';
import type { CliCommand, Io, ListedCommand } from '../command.ts';
import type { Client } from '../../api/client/client.ts';
import { shortId } from '../text.ts';

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

/** Ids of what runs, if a daemon runs and answers at once: a user who presses a key does not wait. */
async function idsFor(command: string, io: Io): Promise<string[]> {
  const list = LISTS[command.split(' ')[0] ?? ''];
  if (list === undefined) return [];
  const client = createObserver({ args: [], options: new Map() }, io);
  try {
    return await list(client);
  } finally {
    client.close();
  }
}

const AT_ONCE = { timeoutMs: 1000 } as const;

const LISTS: Readonly<Record<string, (client: Client) => Promise<string[]>>> = {
  async pipeline(client) {
    const answer = await client.call('pipeline_list', {}, AT_ONCE);
    return answer.ok ? answer.result.pipelines.map(({ id }) => shortId(id)) : [];
  },
  async agent(client) {
    const answer = await client.call('agent_list', {}, AT_ONCE);
    return answer.ok ? answer.result.agents.map(({ id }) => shortId(id)) : [];
  },
  async decision(client) {
    const answer = await client.call('decision_list', {}, AT_ONCE);
    return answer.ok ? answer.result.decisions.map(({ id }) => shortId(id)) : [];
  },
  async task(client) {
    const answer = await client.call('task_list', {}, AT_ONCE);
    return answer.ok ? answer.result.tasks.map(({ id }) => id) : [];
  },
};
