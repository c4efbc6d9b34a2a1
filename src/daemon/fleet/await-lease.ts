import { findPrivateGit } from '../../git/private/find.ts';
import { hasPrivateChanges, syncPrivateGit } from '../../git/private/sync.ts';
import type { PrivateGit } from '../../protocol/sandbox.ts';
import type { Caller } from '../../state/caller.ts';
import type { State } from '../../state/state.ts';
import type { Leases } from '../../state/tasks/lease.ts';
import type { Fences } from '../project/fences.ts';
import type { FleetMember } from './fleet-member.ts';

interface LeasedProject {
  readonly stateDir: string;
  /** Undefined on SQLite, where every claim is on this host. */
  readonly fleet: Pick<FleetMember, 'renewNow' | 'sharedLease'> | undefined;
  readonly fences: Pick<Fences, 'isClosed' | 'closeOverdue'>;
  readonly leases: Pick<Leases, 'renew'>;
  read<A>(select: (state: State) => A): A;
}

/**
 * Resolves to whether the caller's message may be judged. Returns undefined if it may be judged at once, so that calls
 * stay in order. While the database has not acknowledged a claim, the session's commits wait at the fence, and a
 * judgement would miss them. A message proves that the holder is alive, so it renews the claim.
 */
export function awaitLease(caller: Caller, project: LeasedProject, nowMs: number): Promise<boolean> | undefined {
  const { fleet, fences, leases, stateDir } = project;
  const session = fleet === undefined ? undefined : project.read((state) => findOwnSession(state, caller));
  if (fleet === undefined || session === undefined) return undefined;
  const { taskId, epoch, workspace } = session;
  const findGit = (): PrivateGit | undefined =>
    workspace === undefined ? undefined : findUnsynced(stateDir, workspace, epoch);
  if (!fences.isClosed(taskId) && findGit() === undefined) return undefined;
  return (async () => {
    if (fences.isClosed(taskId)) {
      leases.renew(taskId, epoch, nowMs);
      await fleet.renewNow();
      project.read((state) => closeFences(fences, state, fleet));
      if (fences.isClosed(taskId)) return false;
    }
    const git = findGit();
    if (git !== undefined) await syncPrivateGit(git);
    return true;
  })();
}

/** Closes the fences of claims that are no longer acknowledged, and reopens those that are again. */
export function closeFences(
  fences: LeasedProject['fences'],
  state: State,
  fleet: Pick<FleetMember, 'sharedLease'>,
): void {
  fences.closeOverdue(state, (taskId, epoch) => fleet.sharedLease(taskId, epoch));
}

interface OwnSession {
  readonly taskId: string;
  readonly epoch: number;
  readonly workspace: string | undefined;
}

/** The session with the live claim for which the caller acts. */
function findOwnSession({ tasks, agents, sessions }: State, caller: Caller): OwnSession | undefined {
  const run = 'agentId' in caller ? agents.get(caller.agentId)?.task : undefined;
  const id = caller.kind === 'session' ? caller.sessionId : run?.session_id;
  const session = sessions.get(id ?? '');
  if (session === undefined || tasks.get(session.taskId)?.claim?.sessionId !== id) return undefined;
  return { taskId: session.taskId, epoch: session.epoch, workspace: session.prepared?.workspace };
}

/** The supervisor also syncs commits before it forwards a message, but the fence may have been closed then. */
function findUnsynced(stateDir: string, workspace: string, epoch: number): PrivateGit | undefined {
  const git = findPrivateGit(stateDir, workspace);
  return git?.fence?.epoch === epoch && hasPrivateChanges(git) ? git : undefined;
}
