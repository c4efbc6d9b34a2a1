import { randomUUID } from 'node:crypto';
import { readEndedChecks } from '../../github/checks.ts';
import { parseRepository } from '../../github/remote-url.ts';
import type { Effect } from '../../state/runs/effect.ts';
import { apiContext, type GithubContext } from './github.ts';

type WatchChecksEffect = Extract<Effect, { kind: 'watch-checks' }>;

/**
 * One look at the checks that GitHub runs on a head. It stays owed until all of them are on record, and is looked at less and less often: a
 * webhook is faster, and this is for whoever has none, and for what was delivered while the daemon was away.
 */
export async function watchChecks(
  { taskId, head, names }: WatchChecksEffect,
  world: GithubContext,
  signal: AbortSignal,
): Promise<readonly []> {
  const flow = await world.readState((state) => state.tasks.get(taskId)?.flow);
  const repository = parseRepository(flow?.pull?.repository ?? '');
  const checks = flow?.checks;
  if (!checks || checks.head !== head || repository === undefined) return [];
  const ended = await readEndedChecks(repository, head, apiContext(world, signal));
  if (!ended.ok) {
    world.log.error('the checks at GitHub cannot be seen', { task: taskId, reason: ended.problem.message });
    return [];
  }
  for (const { name, outcome, url } of ended.value) {
    if (!names.includes(name) || checks.outcomes[name] === outcome) continue;
    const output = `GitHub: ${outcome}${url === null ? '' : ` ${url}`}`;
    const about = { exitCode: null, log: null, output, handoffId: randomUUID() };
    await world.submit({ kind: 'finish-check', command: { checksId: checks.id, name, outcome, ...about } });
  }
  return [];
}
