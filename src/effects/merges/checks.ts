import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Command } from '../../state/decide.ts';
import type { Effect } from '../../state/runs/effect.ts';
import { checkCommit, type CheckResult } from './check-commit.ts';
import type { EffectContext } from '../context.ts';

/** The required checks of a task's head. Each is told as soon as it has ended; what was told already is not run again. */
export async function runChecks(
  { checksId, taskId, head, checks }: Extract<Effect, { kind: 'run-checks' }>,
  world: EffectContext,
  signal: AbortSignal,
): Promise<readonly Command[]> {
  const told = await world.readState((state) => state.tasks.get(taskId)?.flow.checks?.outcomes);
  if (told === undefined) return [];
  const onEnd = async (end: CheckResult): Promise<void> => {
    if (told[end.name] !== undefined) return;
    const log = await readFile(end.logPath, 'utf8').then(
      (text) => world.keepLog(text),
      () => null,
    );
    const { name, passed, exitCode, timedOut, output } = end;
    const said = timedOut ? `timed out\n${output ?? ''}` : output;
    const outcome = passed ? 'passed' : 'failed';
    const command = { checksId, name, outcome, exitCode, log, output: said, handoffId: randomUUID() } as const;
    await world.submit({ kind: 'finish-check', command });
  };
  await checkCommit({ id: checksId, sha: head, taskId, checks }, world, signal, onEnd);
  return [];
}
