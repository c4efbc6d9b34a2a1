import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  freshCheckoutPath,
  fingerprintFiles,
  restoreFiles,
  type FileFingerprints,
} from '../../git/checkout/file-marks.ts';
import { removeCheckout } from '../../git/checkout/make-checkout.ts';
import type { CheckPlan } from '../../state/workflow/workflow-event.ts';
import { commandFiles } from '../../supervisor/contract.ts';
import { checkOut } from './check-out.ts';
import { renderGithubProblem } from './github.ts';
import { killCommand } from '../processes/kill-command.ts';
import { superviseCommand, type CommandEnd } from '../processes/supervise-command.ts';
import type { EffectContext } from '../context.ts';

export interface CommitCheck {
  /** What the commands' ids begin with: the same commit under the same id is checked once. */
  readonly id: string;
  readonly sha: string;
  readonly taskId: string;
  readonly checks: readonly CheckPlan[];
}

export interface CheckResult extends CommandEnd {
  readonly name: string;
  readonly passed: boolean;
  /** Where the whole log is. */
  readonly logPath: string;
}

/**
 * Runs checks on one commit, in a checkout of nothing but it, one after the other until one fails. Each finds the files of the commit as
 * they were committed: an earlier check runs the branch's code, and could have changed them. Undefined if it was called off.
 */
export async function checkCommit(
  { id, sha, taskId, checks }: CommitCheck,
  world: EffectContext,
  signal: AbortSignal,
  onEnd?: (end: CheckResult) => Promise<void>,
): Promise<readonly CheckResult[] | undefined> {
  const folder = checkoutOf(world.stateDir, id);
  const ends: CheckResult[] = [];
  let isMade = false;
  let marks: FileFingerprints | undefined;
  let isCalledOff = false;
  try {
    for (const [i, { name, run = 'false', timeout_ms: timeoutMs = null, env_pass: envPass = [] }] of checks.entries()) {
      const commandId = `${id}.${i}`;
      const prepare = async () => {
        const make = async (into: string) => checkOut({ sha, taskId }, into, world);
        const made = isMade ? await restoreFiles(folder, marks, make) : await make(folder);
        if (!made.ok) return { ok: false, reason: renderGithubProblem(made.problem) } as const;
        if (!isMade && i + 1 < checks.length) marks = await fingerprintFiles(folder);
        isMade = true;
        return {
          ok: true,
          shell: {
            command: run,
            cwd: folder,
            env: { BATON_CHECK: name, CI: 'true' },
            envPass,
            namesDropped: true,
            timeoutMs,
          },
        } as const;
      };
      const end = await superviseCommand(commandId, prepare, world, signal);
      if (end === undefined) {
        isCalledOff = true;
        return undefined;
      }
      const whole = { ...end, name, passed: end.exitCode === 0, logPath: commandFiles(world.stateDir, commandId).log };
      ends.push(whole);
      await onEnd?.(whole);
      if (!whole.passed) break;
    }
    return ends;
  } finally {
    // A check that goes on without us still needs its files.
    if (!isCalledOff) await removeCheckout(folder);
  }
}

/** The checks of a head that nobody waits for any more: they are stopped, and their checkout goes. */
export async function abandonChecks(id: string, count: number, world: EffectContext): Promise<void> {
  for (let i = 0; i < count; i += 1) await killCommand(`${id}.${i}`, 'nobody waits for it any more', world);
  await removeCheckout(checkoutOf(world.stateDir, id));
  await removeCheckout(freshCheckoutPath(checkoutOf(world.stateDir, id)));
}

/** The same for a merge, which checks whatever it makes: each commit has an id of its own, which begins with the merge's. */
export async function abandonMerge(mergeId: string, world: EffectContext): Promise<void> {
  const isOurs = (name: string): boolean => name.startsWith(`${mergeId}.`);
  for (const id of namesIn(join(world.stateDir, 'commands')).filter(isOurs))
    await killCommand(id, 'nobody waits for it any more', world);
  for (const id of namesIn(join(world.stateDir, 'checkouts')).filter(isOurs))
    await removeCheckout(checkoutOf(world.stateDir, id));
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function checkoutOf(stateDir: string, id: string): string {
  return join(stateDir, 'checkouts', id);
}
