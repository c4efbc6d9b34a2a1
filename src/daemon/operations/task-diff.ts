import type { InputOf } from '../../api/operations/registry.ts';
import { taskDiff, type TaskDiff } from '../../api/operations/task-work.ts';
import type { DecisionEvidence } from '../../api/decision-evidence.ts';
import { findMainOf } from '../../effects/sessions/workplace.ts';
import { findMergeBase } from '../../git/commits.ts';
import { findOwnBase, type OwnChangeRequest } from '../../git/measures/own-change.ts';
import { readChange } from '../../git/measures/read-change.ts';
import { findSha } from '../../git/repository.ts';
import { attempt, gitFailure, type GitResult, type OwnGitFolder, unwrap } from '../../git/run-git.ts';
import type { Ledger } from '../../ledger/writer/ledger.ts';
import { isElsewhere } from '../../state/fleet/work-place.ts';
import { refusal } from '../../state/outcome.ts';
import { refuseUnknownTask } from '../../state/tasks/create-task.ts';
import { shownHead } from '../../state/tasks/judging.ts';
import type { Task } from '../../state/tasks/task.ts';
import { sessionSettingsOf } from '../project/effect-context.ts';
import { type Call, handlerFor, problemAnswer, refusalOf, unchanged } from './call.ts';
import { readTaskHistory } from './reads/task-history.ts';

/** Reads what the commits of a task change: up to the judged commit, or to the branch's head while work continues. */
export const diffHandler = handlerFor(taskDiff, async (call) => {
  const { input, caller, project } = call;
  if (caller.kind === 'session' && caller.taskId !== input.task_id) {
    const message = `this session works on ${caller.taskId}, not on ${input.task_id}`;
    return refusalOf(refusal('wrong-task', message, 'Name the task that you claimed.'));
  }
  const settled = await project.commandLoop.submit({
    actor: 'system:reader',
    decide: ({ state }) => {
      const task = state.tasks.get(input.task_id);
      return task === undefined ? refuseUnknownTask(input.task_id) : unchanged(task);
    },
  });
  if (!settled.ok) return refusalOf(settled);
  const sessions = await readSessions(project.ledger, input.task_id);
  const read = await readTaskDiff(settled.answer, call, { ...input, sessions });
  if (!read.ok) return problemAnswer(read.problem);
  return { ok: true, result: { ...read.value, sessions: sessions.map(withoutBranch) } };
});

function withoutBranch(session: FoundSession): TaskDiff['sessions'][number] {
  const { branch: _branch, main: _main, ...rest } = session;
  return rest;
}

interface DiffOptions extends Pick<InputOf<'task_diff'>, 'agent_id' | 'path' | 'stat'> {
  readonly sessions?: readonly FoundSession[];
  /** Only these files. */
  readonly paths?: readonly string[];
}

export async function readTaskDiff(
  task: Task,
  call: Pick<Call, 'project' | 'services'>,
  { agent_id, path, paths, stat, sessions = [] }: DiffOptions,
): Promise<GitResult<Omit<TaskDiff, 'sessions'>>> {
  return attempt(async () => {
    const {
      of,
      base,
      head,
      main = null,
    } = await (agent_id === undefined ? findChange(task, call) : findSession(task, agent_id, sessions, call));
    const own = unwrap(await call.project.own.with(base, head));
    // A single file may be as large as the limit of all files together.
    const some = paths === undefined ? {} : { paths };
    const one = path === undefined ? some : { paths: [path], maxFileChars: MAX_ONE_CHARS };
    const from = of === 'session' ? await findSessionBase(own, { base, tip: head, main }, call) : base;
    const change = unwrap(await readChange(own, from, head, { patches: stat !== true, ...one }));
    const files = change.files.map(({ isBinary: binary, isCut: cut, ...file }) => ({ ...file, binary, cut }));
    const { branch, place } = task.flow;
    const isLocal = task.claim !== null && !isElsewhere(task, call.project.here);
    const worktree = isLocal ? (place?.workspace ?? null) : null;
    return { task_id: task.id, of, branch, base, head, commits: change.commits, total: change.total, files, worktree };
  });
}

/** Reads the change between two commits of a task, without patches. */
export async function readChangeBetween(
  base: string,
  head: string,
  { project }: Pick<Call, 'project'>,
): Promise<GitResult<ChangeStat>> {
  return attempt(async () => {
    const own = unwrap(await project.own.with(base, head));
    const { files, total } = unwrap(await readChange(own, base, head, { patches: false }));
    return { base, head, files: files.map(statOf), total };
  });
}

type ChangeStat = NonNullable<DecisionEvidence['diff']>;

export function statOf({ path, action, additions, deletions }: ChangeStat['files'][number]) {
  return { path, action, additions, deletions };
}

const MAX_ONE_CHARS = 400_000;

interface ChangeRange extends Pick<TaskDiff, 'of' | 'base' | 'head'> {
  /** The commit of main that a session brought in. */
  readonly main?: string | null;
}

/** What a session brought in from main is not its own change. */
async function findSessionBase(
  own: OwnGitFolder,
  { base, tip, main }: OwnChangeRequest,
  { project }: Pick<Call, 'project'>,
): Promise<string> {
  if (main === null) return base;
  unwrap(await project.own.with(main));
  return unwrap(await findOwnBase(own, { base, tip, main })).from;
}

/** Throws git's failure, for `attempt`. */
async function findChange(task: Task, call: Pick<Call, 'project' | 'services'>): Promise<ChangeRange> {
  const { mergeSha, mergeBase, branch } = task.flow;
  // They are equal if the main branch already had the work.
  if (mergeSha !== null && mergeBase !== null && mergeBase !== mergeSha)
    return { of: 'merge', base: mergeBase, head: mergeSha };
  const { project } = call;
  const head = shownHead(task, branch === null ? null : await findTip(task, branch, project));
  if (head === null) return noCommit(task);
  return { of: mergeSha === null ? 'branch' : 'merge', base: await findBase(task, head, call), head };
}

/** Returns the branch's head; for a branch on another host, the commit that it last pushed. */
async function findTip(task: Task, branch: string, { path, here }: Call['project']): Promise<string | null> {
  if (isElsewhere(task, here)) return task.work?.pushed?.sha ?? null;
  return findSha(path, `refs/heads/${branch}`);
}

/** Returns the merge base with the main branch; if that already has the work, the commit at which the work began. */
async function findBase(
  task: Task,
  head: string,
  { project, services }: Pick<Call, 'project' | 'services'>,
): Promise<string> {
  const main = unwrap(
    await findMainOf(task, {
      path: project.path,
      settingsFor: (of) => sessionSettingsOf(services, of),
      readState: async (look) => {
        const read = await project.commandLoop.read(({ state }) => look(state));
        return read.ok ? read.answer : undefined;
      },
      // Reading a change records nothing.
      recordMainMoves: async () => undefined,
    }),
  );
  const began = task.flow.mainAt ?? task.flow.place?.base ?? null;
  const before = task.flow.mainBefore ?? main.sha;
  const own = unwrap(await project.own.with(before, head, ...(began === null ? [] : [began])));
  const base = unwrap(await findMergeBase(own, before, head));
  if (base !== null && base !== head) return base;
  return (began === null ? null : unwrap(await findMergeBase(own, began, head))) ?? base ?? noBase(task, main.name);
}

/**
 * Returns what one session did: from its first commit to the one at its end, or to the branch's head while it works.
 */
async function findSession(
  task: Task,
  agentId: string,
  all: readonly FoundSession[],
  { project }: Pick<Call, 'project'>,
): Promise<ChangeRange> {
  const sessions = all.filter(({ agent_id }) => agent_id.startsWith(agentId));
  const [session, other] = sessions;
  if (session === undefined) {
    const message = `no session of ${task.id} has the agent ${agentId}`;
    return unwrap(gitFailure('no-such-agent', message, `See the sessions: baton task log ${task.id}`));
  }
  if (other !== undefined) {
    const names = sessions.map((each) => each.agent_id).join(', ');
    return unwrap(
      gitFailure(
        'ambiguous',
        `${agentId} is the beginning of several ids: ${names}`,
        'Type more characters of the id.',
      ),
    );
  }
  const head = session.head ?? (await findTip(task, session.branch, project));
  const { base, main } = session;
  return head === null ? noCommit(task) : { of: 'session', base, head, main };
}

type FoundSession = TaskDiff['sessions'][number] & { readonly branch: string; readonly main: string | null };

/** Reads the ledger, because the state drops agents that ended long ago and the ends of earlier sessions. */
async function readSessions(ledger: Ledger, taskId: string): Promise<readonly FoundSession[]> {
  const found = new Map<string, FoundSession>();
  const roles = new Map<number, string | null>();
  for (const { type, data } of await readTaskHistory(ledger, { taskId })) {
    if (type === 'TaskClaimed' && data.task_id === taskId) roles.set(data.epoch, data.role);
    if (type === 'SessionPrepared' && data.task_id === taskId) {
      const { agent_id, epoch, branch, base } = data;
      const role = roles.get(epoch) ?? null;
      if (!found.has(agent_id)) found.set(agent_id, { agent_id, epoch, role, branch, base, head: null, main: null });
    }
    if (type === 'SessionMeasured' && data.task_id === taskId)
      for (const [id, session] of found)
        if (session.epoch === data.epoch) found.set(id, { ...session, head: data.head, main: data.main ?? null });
  }
  return [...found.values()];
}

function noCommit({ id }: Task): never {
  return unwrap(gitFailure('no-commit-yet', `task ${id} has no commit yet`, `See the task: baton task show ${id}`));
}

function noBase({ id }: Task, main: string): never {
  const message = `the branch of ${id} and ${main} have no commit in common`;
  return unwrap(gitFailure('git/unrelated', message, 'Create the branch again from the main branch.'));
}
