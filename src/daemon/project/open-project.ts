import type { Entry } from '../../ledger/format/entry.ts';
import { DO_NOT_WRITE, ledgerProblem } from '../../ledger/format/limits.ts';
import { StoreProblem } from '../../ledger/store.ts';
import { openLedger } from '../../ledger/writer/open.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import type { RecordedEvent } from '../../state/event.ts';
import { isHere } from '../../state/fleet/owner.ts';
import { UnreadableEntry } from '../../state/recorded-event.ts';
import { createLeases, type Leases } from '../../state/tasks/lease.ts';
import { CommandLoop } from '../loop/command-loop.ts';
import { loadState } from '../loop/fold-state.ts';
import { CommitClock } from '../loop/speculative-state.ts';
import { Fences } from './fences.ts';
import { Project } from './project.ts';
import type { ProjectOptions } from './project-options.ts';

export type OpenedProject =
  | { readonly ok: true; readonly project: Project }
  | { readonly ok: false; readonly problem: Problem };

/**
 * Opens a project. If the store stops responding while the state is folded, the project stays closed, and the next call
 * retries.
 */
export async function openProject(options: ProjectOptions): Promise<OpenedProject> {
  try {
    return await openLedgerAndState(options);
  } catch (error) {
    if (error instanceof StoreProblem) return { ok: false, problem: error.problem };
    throw error;
  }
}

/** Opens the ledger, folds the state, and gives every live claim a full lease. */
async function openLedgerAndState(options: ProjectOptions): Promise<OpenedProject> {
  const clock = new CommitClock(options.now);
  const here = options.fleet;
  let commandLoop: CommandLoop | undefined;
  // Entries recorded before the command loop exists. Without them its decisions would be refused as outdated.
  const early: Entry[] = [];
  const opened = await openLedger({
    ...options.ledger,
    project: options.id,
    clock: () => clock.read(),
    ...(options.beforeForeign === undefined ? {} : { beforeForeign: options.beforeForeign }),
    onEntries: (entries) => {
      // Keeps times in order: no entry is older than the one before it, whichever host wrote that.
      if (here !== undefined) clock.observe(entries.at(-1)?.at);
      if (commandLoop === undefined) early.push(...entries);
      else commandLoop.receiveEntries(entries);
      options.onEntries?.(entries);
    },
  });
  if (!opened.ok) return opened;
  const { ledger } = opened;
  let savedSize = 0;
  const events = {
    ...(options.onDiscarded === undefined ? {} : { onDiscarded: options.onDiscarded }),
    onLoaded: (size: number) => (savedSize = size),
  };
  const loaded = await loadState(ledger, events).catch((error: unknown) => {
    if (error instanceof UnreadableEntry) return ledgerProblem('ledger/unreadable', error.message, DO_NOT_WRITE);
    throw error;
  });
  if ('code' in loaded) {
    await ledger.close();
    return { ok: false, problem: loaded };
  }
  const state = loaded;
  const obstacle = await options.prepare?.(ledger, state);
  if (obstacle !== undefined) return { ok: false, problem: obstacle };
  const leases = createLeases(options.leaseTimes);
  for (const { id, claim } of state.tasks.values()) {
    if (claim !== null && isHere(claim, state, here)) leases.renew(id, claim.epoch, options.monotonicMs());
  }
  const fences = new Fences(options);
  fences.writeAll(state);
  const onRecorded = (recorded: readonly RecordedEvent[], isOwn: boolean): void => {
    updateLeases(leases, recorded, { nowMs: options.monotonicMs(), isOwn: (host) => isHere({ host }, state, here) });
    fences.follow(recorded);
    project?.applyRecorded(recorded);
    options.onRecorded?.(recorded, isOwn);
  };
  const { rules, messages, onMistake = () => {} } = options;
  let project: Project | undefined;
  commandLoop = new CommandLoop({
    ledger,
    state,
    rules,
    clock,
    onRecorded,
    onInternalError: onMistake,
    onForeign: (recorded) => (project === undefined ? 0 : project.onForeign(recorded)),
    ...(here === undefined ? {} : { holdBack: (recorded: readonly RecordedEvent[]) => project?.holdBack(recorded) }),
    here: here?.host,
    ...(messages === undefined ? {} : { messages }),
  });
  project = new Project(options, { ledger, state, commandLoop, leases, fences, savedSize });
  commandLoop.receiveEntries(early);
  return { ok: true, project };
}

/** Updates the leases of this host's own claims. */
function updateLeases(
  leases: Leases,
  recorded: readonly RecordedEvent[],
  { nowMs, isOwn }: { readonly nowMs: number; readonly isOwn: (host: string | null) => boolean },
): void {
  for (const { type, data } of recorded) {
    if (type === 'TaskClaimed' && isOwn(data.host ?? null)) leases.renew(data.task_id, data.epoch, nowMs);
    else if (type.startsWith('Claim') && 'task_id' in data) leases.end(data.task_id ?? '');
  }
}
