import { isAncestor } from '../git/commits.ts';
import { gitLines } from '../git/run-git.ts';
import { writebacks } from '../state/task.ts';
import { WRITEBACK_REQUIRED } from '../state/writeback.ts';
import type { World } from './world.ts';

/**
 * What is merged was written down: the record names the head, or a commit with nothing but Baton's own after it. Where the store does not
 * answer, nobody knows: `unknown`.
 */
export async function findMissingRecord(
  { taskId, head }: { readonly taskId: string; readonly head: string },
  { path, read }: World,
): Promise<typeof WRITEBACK_REQUIRED | 'unknown' | undefined> {
  const records = await read((state) => {
    const task = state.tasks.get(taskId);
    return task === undefined ? [] : writebacks(task).map(({ commitSha }) => commitSha.toLowerCase());
  });
  if (records === undefined) return 'unknown';
  if (records.includes(head)) return undefined;
  for (const sha of records.toReversed()) {
    const ancestor = await isAncestor(path, sha, head);
    if (!ancestor.ok || !ancestor.value) continue;
    const later = await gitLines(['log', '--format=%ce', `${sha}..${head}`, '--'], { cwd: path });
    if (later.ok && later.value.every((email) => email === 'baton@localhost')) return undefined;
  }
  return WRITEBACK_REQUIRED;
}
