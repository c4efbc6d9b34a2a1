import type { Answer } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import { shortId } from '../text.ts';

/** Commands whose first argument is an id. */
export type IdKind = 'pipeline' | 'agent' | 'decision' | 'task';

export const ID_KINDS: readonly IdKind[] = ['task', 'agent', 'pipeline', 'decision'];

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
    case 'task': {
      const answer = await call('task_list', {}, AT_ONCE);
      return answer.ok ? answer.result.tasks.map(({ id }) => id) : [];
    }
  }
}

const AT_ONCE = { timeoutMs: 1000 } as const;

function shortIds<R>(answer: Answer<R>, list: (result: R) => readonly { readonly id: string }[]): string[] {
  return answer.ok ? list(answer.result).map(({ id }) => shortId(id)) : [];
}
