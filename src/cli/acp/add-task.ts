import type { Answer } from '../../api/answer.ts';
import type { ProjectCalls } from '../../api/client/signed-client.ts';

/** Adds a task whose id is derived from its title: `add-a-login-page`, or `add-a-login-page-2` if that exists. */
export async function addTask(
  { title, description }: { readonly title: string; readonly description: string },
  client: ProjectCalls,
): Promise<Answer<{ readonly task_id: string }>> {
  const name = idOf(title);
  for (let n = 1; ; n += 1) {
    const suffix = n === 1 ? '' : n <= MAX_TRIES ? `-${n}` : `-${crypto.randomUUID().slice(0, 8)}`;
    const task = { task_id: `${name}${suffix}`, title, ...(description === '' ? {} : { description }) };
    const answer = await client.call('task_create', task);
    if (answer.ok || answer.error.code !== 'task-exists' || n > MAX_TRIES) return answer;
  }
}

export function idOf(title: string): string {
  const words = title
    .normalize('NFKD')
    .toLowerCase()
    .match(/[a-z0-9]+/g) ?? ['task'];
  return words.join('-').slice(0, ID_CHARACTERS).replace(/-+$/, '');
}

const ID_CHARACTERS = 40;
const MAX_TRIES = 20;
