import type { Answer } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import type { ResultOf } from '../../api/operations/registry.ts';
import { shortId } from '../text.ts';

/** The first words of commands whose argument is an id. */
export type IdKind = 'pipeline' | 'agent' | 'decision' | 'handoff' | 'task';

export const ID_KINDS: readonly IdKind[] = ['task', 'agent', 'pipeline', 'decision', 'handoff'];

/** What `baton wait` waits for. */
export const WAITED_KINDS: readonly IdKind[] = ['task', 'pipeline', 'agent'];

/**
 * Reads the ids of a kind as commands show them. None if the daemon does not answer within a second, because they only
 * help with typing.
 */
export async function readKnownIds(
  kind: IdKind,
  call: Client['call'],
  which: { readonly all?: true } = {},
): Promise<string[]> {
  switch (kind) {
    case 'pipeline':
      return shortIds(await call('pipeline_list', which, AT_ONCE), (list) => list.pipelines);
    case 'agent':
      return shortIds(await call('agent_list', which, AT_ONCE), (list) => list.agents);
    case 'decision':
      return shortIds(await call('decision_list', which, AT_ONCE), (list) => list.decisions);
    case 'handoff': {
      const answer = await call('handoff_list', {}, AT_ONCE);
      return answer.ok ? answer.result.handoffs.map(({ handoff_id }) => shortId(handoff_id)) : [];
    }
    case 'task':
      return readTaskIds(call);
  }
}

/** Page by page, since a project may have more tasks than one answer. */
async function readTaskIds(call: Client['call']): Promise<string[]> {
  const ids: string[] = [];
  for (let after = 0; ids.length < MOST_TASKS;) {
    const answer: Answer<ResultOf<'task_list'>> = await call('task_list', { limit: PAGE, after_n: after }, AT_ONCE);
    if (!answer.ok) return ids;
    const { tasks } = answer.result;
    ids.push(...tasks.map(({ id }) => id));
    if (tasks.length < PAGE) return ids;
    after = tasks.at(-1)?.n ?? 0;
  }
  return ids;
}

const PAGE = 1000;
const MOST_TASKS = 20_000;

const AT_ONCE = { timeoutMs: 1000 } as const;

function shortIds<R>(answer: Answer<R>, list: (result: R) => readonly { readonly id: string }[]): string[] {
  return answer.ok ? list(answer.result).map(({ id }) => shortId(id)) : [];
}
