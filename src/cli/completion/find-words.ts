import { createObserver } from '../ask.ts';
import type { Io, ListedCommand } from '../command.ts';
import type { Answer } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import { shortId } from '../text.ts';

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
  // The value of an option is often a file: the shell completes it.
  if (valued !== undefined) return [];
  if (word.startsWith('-')) return [...command.options.map(({ name }) => `--${name}`), '--help'];
  const isFirst = given.every((each) => each.startsWith('-'));
  const argument = isFirst ? command.args[0] : command.rest;
  return argument?.name === 'ID' ? idsFor(commandName, io) : [];
}

/** Ids of what runs; none if the daemon does not answer quickly, since a user who presses Tab does not wait. */
async function idsFor(command: string, io: Io): Promise<string[]> {
  const list = LISTS[command.split(' ')[0] ?? ''];
  if (list === undefined) return [];
  using client = createObserver({ args: [], options: new Map() }, io);
  return await list(client);
}

const AT_ONCE = { timeoutMs: 1000 } as const;

const LISTS: Readonly<Record<string, (client: Client) => Promise<string[]>>> = {
  pipeline: async (client) => shortIds(await client.call('pipeline_list', {}, AT_ONCE), (all) => all.pipelines),
  agent: async (client) => shortIds(await client.call('agent_list', {}, AT_ONCE), (all) => all.agents),
  decision: async (client) => shortIds(await client.call('decision_list', {}, AT_ONCE), (all) => all.decisions),
  async task(client) {
    const answer = await client.call('task_list', {}, AT_ONCE);
    return answer.ok ? answer.result.tasks.map(({ id }) => id) : [];
  },
};

function shortIds<R>(answer: Answer<R>, list: (result: R) => readonly { readonly id: string }[]): string[] {
  return answer.ok ? list(answer.result).map(({ id }) => shortId(id)) : [];
}
