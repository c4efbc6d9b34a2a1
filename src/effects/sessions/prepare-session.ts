import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isAncestor } from '../../git/commits.ts';
import { findFenceHooks } from '../../git/fence/install.ts';
import { findSha } from '../../git/repository.ts';
import { gitText, type OwnGitFolder } from '../../git/run-git.ts';
import { isJudgingRole } from '../../runbook/gates/gate-fields.ts';
import { buildPacket } from '../../state/packet/packet.ts';
import type { AgentRun } from '../../state/runs/agent-run.ts';
import type { SessionPreparation, State } from '../../state/state.ts';
import { type Claim, JUDGED_PHASES, type Task } from '../../state/tasks/task.ts';
import { findMissingMessages } from '../../state/tasks/writeback.ts';
import type { EffectContext } from '../context.ts';
import { findProtected, measuredOf } from '../merges/find-protected.ts';
import { renderGithubProblem } from '../merges/github.ts';
import { judgeClient } from './judge-client.ts';
import { observeBranch } from './observe-branch.ts';
import { buildMission, gatherEpic, MISSION_FILE, type SessionFileFacts, writeSessionFiles } from './session-files.ts';
import { placeSession, type SessionPlacement } from './session-place.ts';
import { findJudgedBefore, findUncommitted, setAside } from './set-aside.ts';
import { findMainOf, findWorkspace } from './workplace.ts';
import { furnishWorkspace } from './workspace.ts';

export type PreparedSession =
  | {
      readonly ok: true;
      readonly workspace: string;
      readonly env: Readonly<Record<string, string>>;
      /** The hooks of the worktree's fence; null in the repository itself, which has none. */
      readonly fenceHooks: string | null;
    }
  | { readonly ok: false; readonly reason: string };

/**
 * Prepares the worktree, the mission and its files for a session that Baton starts. Everything is recorded before the
 * agent runs. Later processes of the session, and retries, keep the first record. Undefined if the start was cancelled.
 */
export async function prepareSession(
  run: AgentRun,
  context: EffectContext,
  signal: AbortSignal,
): Promise<PreparedSession | undefined> {
  const facts = await context.readState((state) => selectSessionFacts(state, run));
  if (facts === undefined) return undefined;
  if (facts === 'ended') return { ok: false, reason: `the claim on ${run.task?.task_id ?? ''} has ended` };
  const prepared = facts.prepared ?? (await prepare(facts, run, context, signal));
  // The facts are of the branch before its move, which may also have ended the claim.
  if (prepared === 'moved') return prepareSession(run, context, signal);
  if (prepared === undefined || 'reason' in prepared) return prepared;
  const { workspace, port } = prepared;
  if (!existsSync(workspace)) return { ok: false, reason: `its worktree is gone: ${workspace}` };
  const changed = isJudgingRole(facts.role ?? 'implementer')
    ? await measureProtected(facts.task, context)
    : NOTHING_MARKED;
  const judge = judgeClient(run, facts.task, context.settingsFor(facts.task));
  // Another agent under the same claim, such as a restarted one, gets fresh forms.
  await writeSessionFiles(
    { ...facts, ...changed, usesTools: judge?.stream === true },
    prepared,
    context,
    run.start > 1,
  );
  const recorded =
    facts.prepared === undefined ? await context.submit({ kind: 'prepare-session', command: prepared }) : {};
  if (recorded === undefined) return undefined;
  if (recorded.refused !== undefined) return { ok: false, reason: recorded.refused };
  const env = {
    BATON_MISSION: join(workspace, MISSION_FILE),
    BATON_WORKSPACE: workspace,
    ...(port === null ? {} : { BATON_PORT: String(port) }),
  };
  return { ok: true, workspace, env, fenceHooks: await findFenceHooks(workspace) };
}

/** Records which protected paths the branch changes, and returns them for the judging role. */
async function measureProtected(task: Task, context: EffectContext): Promise<MarkedPaths> {
  const { head } = task.flow;
  if (head === null) return NOTHING_MARKED;
  const found = await findProtected(task, head, context);
  if (!found.ok) return NOTHING_MARKED;
  const command = { task_id: task.id, merge_id: null, ...measuredOf(found.value) };
  await context.submit({ kind: 'measure-protected', command });
  const { paths, instructions, versions } = found.value;
  return { protectedPaths: paths, instructionFiles: instructions, versionFiles: versions };
}

type MarkedPaths = Pick<SessionFileFacts, 'protectedPaths' | 'instructionFiles' | 'versionFiles'>;

const NOTHING_MARKED: MarkedPaths = { protectedPaths: [], instructionFiles: [], versionFiles: [] };

interface PreparationFacts extends Omit<SessionFileFacts, keyof MarkedPaths | 'usesTools'> {
  readonly task: Task;
  readonly claim: Claim;
  readonly prepared: SessionPreparation | undefined;
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
    packet: buildPacket(state, task),
    claim,
    role: claim.role,
    owes: findMissingMessages(task, claim, false),
    epic: gatherEpic(task, state.tasks.values()),
    prepared: state.sessions.get(claim.sessionId)?.prepared,
    own: findWorkspace(state, owner?.pipelineId),
    supervised: new Set(started.map(({ epoch }) => epoch)),
  };
}

async function prepare(
  { task, packet, claim, role, own, supervised }: PreparationFacts,
  run: AgentRun,
  context: EffectContext,
  signal: AbortSignal,
): Promise<SessionPreparation | Extract<PreparedSession, { ok: false }> | 'moved' | undefined> {
  const { epoch, holder } = claim;
  const placed: SessionPlacement | undefined =
    own === null
      ? await placeSession({ task, epoch, holder, supervised }, context, signal)
      : { ok: true, path: own.path, branch: own.branch, isFenced: true };
  if (placed === undefined || !placed.ok) return placed;
  const { path: workspace, branch, isFenced } = placed;
  // Before the set-up command runs: it takes over the git directory that shows who moved the branch.
  const opened = isFenced ? await openPlace({ task, branch, workspace, isJudge: judges(task, role) }, context) : UNUSED;
  if (opened === 'moved' || !opened.ok) return opened;
  // The repository itself is set up by a person, so only a worktree is furnished.
  const furnished = isFenced ? await furnishWorkspace(workspace, run.id, context, signal) : NOTHING;
  if (furnished === undefined || !furnished.ok) return furnished;
  const head = await gitText(['rev-parse', '--verify', 'HEAD^{commit}'], { cwd: workspace });
  if (!head.ok) return { ok: false, reason: head.problem.message };
  if (isFenced && (await observeBranch(task.id, { branch, head: head.value }, context))) return 'moved';
  // Later measurements compare with this commit, even if the repository loses it.
  const copied = await context.ownRepository.with(head.value);
  if (!copied.ok) return { ok: false, reason: renderGithubProblem(copied.problem) };
  // A judge is not charged for the violation of an author.
  const since = judges(task, role) ? undefined : await findSince(task, copied.value, head.value);
  const { limits } = context.settingsFor(task);
  const hasMemory = packet.lessons.length > 0;
  const mission = buildMission({ task, hasMemory, role, workspace, limits, plan: run.plan });
  const { port } = furnished;
  const main = task.flow.mainAt === null ? await findMainOf(task, context) : undefined;
  const place = {
    workspace,
    branch,
    base: head.value,
    ...(since === undefined ? {} : { since }),
    ...opened.value,
    ...(main?.ok === true ? { main: main.value.sha } : {}),
  };
  return { agent_id: run.id, task_id: task.id, epoch, ...place, port, mission };
}

interface OpenedPlace {
  readonly task: Task;
  readonly branch: string;
  readonly workspace: string;
  readonly isJudge: boolean;
}

interface OpenedFiles {
  readonly ok: true;
  readonly value: Pick<SessionPreparation, 'uncommitted' | 'set_aside'>;
}

const UNUSED = { ok: true, value: {} } as const;

/**
 * Records whose commits the branch has, and removes what a judging session left beside them. Resolves to `moved` if
 * the branch has moved since.
 */
async function openPlace(
  { task, branch, workspace, isJudge }: OpenedPlace,
  context: EffectContext,
): Promise<OpenedFiles | Extract<PreparedSession, { ok: false }> | 'moved'> {
  const head = await findSha(workspace, 'HEAD');
  if (head === null || task.phase === 'COMPLETED') return UNUSED;
  if (await observeBranch(task.id, { branch, head }, context)) return 'moved';
  const before = await context.readState((state) => findJudgedBefore(state, task, workspace));
  if (before === undefined && !isJudge) return UNUSED;
  const own = await context.ownRepository.with(head);
  if (!own.ok) return { ok: false, reason: renderGithubProblem(own.problem) };
  const place = { stateDir: context.stateDir, worktree: workspace, head };
  const moved = before === undefined ? NO_FILES : await setAside(own.value, place, before);
  if (!moved.ok) return { ok: false, reason: renderGithubProblem(moved.problem) };
  const set_aside = moved.value.slice(0, MOST_NAMED).map((path) => path.slice(0, MOST_CHARACTERS));
  const listed = set_aside.length === 0 ? {} : { set_aside };
  if (!isJudge) return { ok: true, value: listed };
  const found = await findUncommitted(own.value, place);
  return found.ok
    ? { ok: true, value: { ...listed, uncommitted: found.value } }
    : { ok: false, reason: renderGithubProblem(found.problem) };
}

const NO_FILES = { ok: true, value: [] } as const;
const MOST_NAMED = 50;
const MOST_CHARACTERS = 300;

function judges({ phase }: Task, role: string | null): boolean {
  return JUDGED_PHASES.has(phase) || isJudgingRole(role ?? 'implementer');
}

/**
 * The commit from which constraints count. A violation stays in force for later sessions until its commits are removed
 * from the branch.
 */
async function findSince({ flow: { unfit } }: Task, own: OwnGitFolder, head: string): Promise<string | undefined> {
  if (unfit === null) return undefined;
  const within = await isAncestor(own, unfit.head, head);
  return within.ok && within.value ? unfit.base : undefined;
}

const NOTHING = { ok: true, port: null } as const;
