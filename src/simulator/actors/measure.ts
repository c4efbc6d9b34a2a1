import type { ExitReason, Phase } from '../../protocol/phase.ts';
import type { Command } from '../../state/decide.ts';
import { rulesFor, rulesInForce } from '../../state/rules.ts';
import type { Task } from '../../state/tasks/task.ts';
import { constraintsInForce } from '../../state/tasks/waive-constraint.ts';
import type { SessionEvidence } from '../../state/tasks/record-evidence.ts';
import type { Host } from '../world/parts.ts';

/** What Baton measures at the end of a session, from git as it is. */
export function measure(host: Host, sessionId: string) {
  const prepared = host.state.sessions.get(sessionId)?.prepared;
  if (prepared === undefined) return undefined;
  const { git } = host.world;
  const head = git.branch(host.name, prepared.branch) ?? prepared.base;
  const files = git.changed(prepared.base, head);
  const task = host.state.tasks.get(host.state.sessions.get(sessionId)?.taskId ?? '');
  const { max_files = Infinity } = task === undefined ? {} : limitsOf(host, task);
  return {
    base: prepared.base,
    head,
    commits: git.since(prepared.base, head).length,
    file_count: files.length,
    files: files.map((path) => ({ path, action: 'modified' })),
    new_dependencies: [],
    broken: files.length > max_files ? ['max_files' as const] : [],
  };
}

/** The limits of the runbook with which the task was started, without those that a person waived. */
function limitsOf({ state, world }: Host, task: Task) {
  return constraintsInForce(rulesFor(task, rulesInForce(state, world.rules)).constraints, task);
}

/** An exit signal, with the measurement that the daemon adds to it when it arrives. */
export function exitSignal(
  host: Host,
  sessionId: string,
  { phase, reason, eventId, notes }: { phase: Phase; reason: ExitReason; eventId: string; notes?: string },
): Command {
  const measured = measure(host, sessionId);
  const said = notes === undefined ? {} : { notes };
  const signal = {
    protocol: 'apm2_agent_exit',
    version: '1.0.0',
    phase_completed: phase,
    exit_reason: reason,
    ...said,
  } as const;
  const committed = measured !== undefined && measured.head !== measured.base;
  return {
    kind: 'exit-session',
    command: {
      signal,
      eventId,
      at: host.at,
      committed,
      violations: (measured?.broken ?? []).map((name) => `${name}: ${measured?.file_count} files`),
      ...(measured === undefined ? {} : { measured }),
      ...(measured !== undefined && host.world.random.chance(0.2) ? { evidence: evidenceOf(host, sessionId) } : {}),
    },
  };
}

function evidenceOf({ state, world }: Host, sessionId: string): SessionEvidence {
  const task_id = state.sessions.get(sessionId)?.taskId ?? '';
  const commands = [{ run: 'npm test', exit_code: 0, output_sha256: '0'.repeat(64) }];
  const about = { task_id, phase: state.tasks.get(task_id)?.phase ?? 'DRAFT', head_sha: world.git.main } as const;
  const bundle = { ...about, commands, files: [], decisions: ['as it was'], next_step: 'review it' };
  return { ref: 'evidence.yaml', blob: 'e'.repeat(64), bundle };
}

export function pushWork(host: Host, taskId: string): void {
  const task = host.state.tasks.get(taskId);
  const { world } = host;
  const epoch = task?.claim?.epoch ?? task?.work?.epoch ?? 0;
  const prepared = host.state.sessions.get(task?.claim?.sessionId ?? task?.endings.at(-1)?.sessionId ?? '')?.prepared;
  if (task === undefined || !world.isFleet || task.work === null || prepared === undefined) return;
  if (task.work.host !== host.name || task.work.epoch !== epoch || epoch === 0) return;
  const sha = world.git.branch(host.name, prepared.branch) ?? prepared.base;
  const about = { task_id: taskId, epoch, host: host.name };
  const caller = { kind: 'system', name: 'travel' } as const;
  if (world.isRemoteAway) {
    const reason = 'the remote does not answer';
    host.submit({ kind: 'report-push', command: { pushed: false, ...about, sha, reason } }, caller);
    return;
  }
  world.git.setBranch('remote', prepared.branch, sha);
  host.submit({ kind: 'report-push', command: { pushed: true, ...about, sha, wip: null } }, caller);
}

/**
 * Reports whose commits a branch has beyond its recorded head. Returns whether the branch moved: then the caller begins
 * again.
 */
export function observeBranch(host: Host, taskId: string, head: string): boolean {
  const { git, madeUnder } = host.world;
  const task = host.state.tasks.get(taskId);
  if (task === undefined || task.phase === 'COMPLETED' || task.flow.head === null || task.flow.head === head)
    return false;
  const added = git.since(task.flow.head, head);
  const imports = added.flatMap(({ sha }) => madeUnder.get(sha) ?? []);
  const seen = { task_id: taskId, branch: `feature/${taskId}`, old: task.flow.head, new: head, main: null, imports };
  const reply = host.submit({ kind: 'observe-branch', command: seen }, { kind: 'system', name: 'effects' });
  return reply.kind === 'ok' && (reply.answer as { readonly moved: boolean }).moved; // oxlint-disable-line typescript/no-unsafe-type-assertion
}
