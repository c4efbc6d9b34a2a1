import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isAncestor } from '../../git/commits.ts';
import { findFenceHooks } from '../../git/fence/install.ts';
import { gitText, type OwnGitFolder } from '../../git/run-git.ts';
import { isJudgingRole } from '../../runbook/gates/gate-fields.ts';
import type { AgentRun } from '../../state/runs/agent-run.ts';
import type { SessionPreparation, State } from '../../state/state.ts';
import type { Claim, Task } from '../../state/tasks/task.ts';
import { findMissingMessages } from '../../state/tasks/writeback.ts';
import type { EffectContext } from '../context.ts';
import { findProtected } from '../merges/find-protected.ts';
import { renderGithubProblem } from '../merges/github.ts';
import { buildMission, gatherEpic, MISSION_FILE, type SessionFileFacts, writeSessionFiles } from './session-files.ts';
import { placeSession, type SessionPlacement } from './session-place.ts';
import { findMainOf, findWorkspace } from './workplace.ts';
import { furnishWorkspace } from './workspace.ts';

/** Where an agent under a claim works, and what it finds in its environment there. */
export type PreparedSession =
  | {
      readonly ok: true;
      readonly workspace: string;
      readonly env: Readonly<Record<string, string>>;
      /** The hooks of its fence; null in the repository itself, which has none. */
      readonly fenceHooks: string | null;
    }
  | { readonly ok: false; readonly reason: string };

/**
 * Makes everything ready for a session that Baton starts: its worktree, its mission and what that refers to. All of it is on record
 * before the agent runs; a start that is tried again, and every later process of the session, keeps what was recorded first. Undefined
 * where the start was called off.
 */
export async function prepareSession(
  run: AgentRun,
  world: EffectContext,
  signal: AbortSignal,
): Promise<PreparedSession | undefined> {
  const facts = await world.readState((state) => selectSessionFacts(state, run));
  if (facts === undefined) return undefined;
  if (facts === 'ended') return { ok: false, reason: `the claim on ${run.task?.task_id ?? ''} has ended` };
  const prepared = facts.prepared ?? (await prepare(facts, run, world, signal));
  if (prepared === undefined || 'reason' in prepared) return prepared;
  const { workspace, port } = prepared;
  if (!existsSync(workspace)) return { ok: false, reason: `its worktree is gone: ${workspace}` };
  const changed = isJudgingRole(facts.role ?? 'implementer') ? await measureProtected(facts.task, world) : [];
  await writeSessionFiles({ ...facts, protectedPaths: changed }, prepared, world, facts.prepared !== undefined);
  const told = facts.prepared === undefined ? await world.submit({ kind: 'prepare-session', command: prepared }) : {};
  if (told === undefined) return undefined;
  if (told.refused !== undefined) return { ok: false, reason: told.refused };
  const env = {
    BATON_MISSION: join(workspace, MISSION_FILE),
    BATON_WORKSPACE: workspace,
    ...(port === null ? {} : { BATON_PORT: String(port) }),
  };
  return { ok: true, workspace, env, fenceHooks: await findFenceHooks(workspace) };
}

/** What the branch changes of what decides how it is checked: on record, and shown to those who judge it. */
async function measureProtected(task: Task, world: EffectContext): Promise<readonly string[]> {
  const { head } = task.flow;
  if (head === null) return [];
  const found = await findProtected(task, head, world);
  if (!found.ok) return [];
  await world.submit({ kind: 'measure-protected', command: { task_id: task.id, merge_id: null, ...found.value } });
  return found.value.paths;
}

interface PreparationFacts extends Omit<SessionFileFacts, 'protectedPaths'> {
  readonly task: Task;
  readonly claim: Claim;
  readonly prepared: SessionPreparation | undefined;
  /** Of the pipeline that the agent works in. */
  readonly own: { readonly path: string; readonly branch: string } | null;
  readonly supervised: ReadonlySet<number>;
}

function selectSessionFacts(state: State, { task: ref, owner }: AgentRun): PreparationFacts | 'ended' {
  const task = state.tasks.get(ref?.task_id ?? '');
  const claim = task?.claim;
  if (task === undefined || !claim || claim.sessionId !== ref?.session_id) return 'ended';
  const started = task.endings.filter(({ sessionId }) => state.sessions.get(sessionId)?.prepared !== undefined);
  return {
    task,
    claim,
    role: claim.role,
    owes: findMissingMessages(task, claim, false),
    epic: gatherEpic(task, state.tasks.values()),
    prepared: state.sessions.get(claim.sessionId)?.prepared,
    own: findWorkspace(state, owner?.pipelineId),
    supervised: new Set(started.map(({ epoch }) => epoch)),
  };
}

type SessionRefusal = Extract<PreparedSession, { ok: false }>;

async function prepare(
  { task, claim, role, own, supervised }: PreparationFacts,
  run: AgentRun,
  world: EffectContext,
  signal: AbortSignal,
): Promise<SessionPreparation | SessionRefusal | undefined> {
  const { epoch, holder } = claim;
  const placed: SessionPlacement | undefined =
    own === null
      ? await placeSession({ task, epoch, holder, supervised }, world, signal)
      : { ok: true, path: own.path, branch: own.branch, isFenced: true };
  if (placed === undefined || !placed.ok) return placed;
  const { path: workspace, branch, isFenced } = placed;
  // The repository itself is a person's, who has set it up.
  const furnished = isFenced ? await furnishWorkspace(workspace, run.id, world, signal) : NOTHING;
  if (furnished === undefined || !furnished.ok) return furnished;
  const head = await gitText(['rev-parse', '--verify', 'HEAD^{commit}'], { cwd: workspace });
  if (!head.ok) return { ok: false, reason: head.problem.message };
  // The work is compared with this commit later, whatever becomes of it in the repository.
  const copied = await world.ownRepository.with(head.value);
  if (!copied.ok) return { ok: false, reason: renderGithubProblem(copied.problem) };
  const since = await findSince(task, copied.value, head.value);
  const mission = buildMission({ task, role, workspace, limits: world.settingsFor(task).limits, plan: run.plan });
  const { port } = furnished;
  const main = task.flow.mainAt === null ? await findMainOf(task, world) : undefined;
  const place = {
    workspace,
    branch,
    base: head.value,
    ...(since === undefined ? {} : { since }),
    ...(main?.ok === true ? { main: main.value.sha } : {}),
  };
  return { agent_id: run.id, task_id: task.id, epoch, ...place, port, mission };
}

/** Work that broke a constraint is not forgiven by a new start. Where somebody has taken it out of the branch, it is nobody's any more. */
async function findSince({ flow: { unfit } }: Task, own: OwnGitFolder, head: string): Promise<string | undefined> {
  if (unfit === null) return undefined;
  const within = await isAncestor(own, unfit.head, head);
  return within.ok && within.value ? unfit.base : undefined;
}

const NOTHING = { ok: true, port: null } as const;
