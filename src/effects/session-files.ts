import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SESSION_FOLDER } from '../git/hide-worktrees.ts';
import { hideFromGit } from '../git/hide-from-git.ts';
import { readInside } from '../git/read-inside.ts';
import { findMainBranch, findRepository } from '../git/repository.ts';
import { git, gitText } from '../git/run-git.ts';
import { renderMission, type Mission } from '../protocol/mission.ts';
import { isRelativePath } from '../protocol/text-format.ts';
import type { Prepared } from '../state/state.ts';
import type { Task } from '../state/task.ts';
import { isAuthor } from '../state/workflow/evolve-flow.ts';
import { renderEpicFile, type EpicFacts } from './session-epic-file.ts';
import { formsOf } from './session-forms.ts';
import { EPIC_FILE, MISSION_FILE, TASK_FILE } from './session-mission.ts';
import { renderTaskFile, type Change, type TaskFacts } from './session-task-file.ts';
import type { World } from './world.ts';

export interface SessionFacts {
  readonly task: Task;
  readonly role: string | null;
  readonly owes: readonly string[];
  readonly epic: EpicFacts;
}

/** Lays the mission, and all that it refers to, into the session's workspace. */
export async function writeSessionFiles(
  { task, role, owes, epic }: SessionFacts,
  { workspace, branch, base, port, mission }: Pick<Prepared, 'workspace' | 'branch' | 'base' | 'port' | 'mission'>,
  world: World,
  isResumed: boolean,
): Promise<void> {
  const found = await findRepository(workspace);
  if (found.ok) await hideFromGit(found.value.commonDir, `/${SESSION_FOLDER}/`).catch(() => undefined);
  const { workflow } = world.sessions;
  const at = world.now().toISOString();
  const head = await gitText(['rev-parse', 'HEAD'], { cwd: workspace });
  const shared = { task, role, branch, port };
  const forms = formsOf({ ...shared, workspace, head: head.ok ? head.value : base, workflow, at });
  const facts: TaskFacts = {
    ...shared,
    base,
    owes,
    constraints: describeConstraints(mission),
    prompt: await readPrompt(workspace, task.promptFile),
    leftovers: await readLeftovers(workspace),
    change: await readChange(workspace, role),
    forms,
  };
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(workspace, path)), { recursive: true });
    // A session that goes on finds its forms as it has filled them in. To the next one they are new, whatever a session before has
    // put in their place: a link would be followed, and a pipe waited for without end.
    if (!isResumed) await rm(join(workspace, path), { force: true });
    await writeFile(join(workspace, path), text, { flag: 'wx' }).catch((error: unknown) => {
      if (!isResumed) throw error;
    });
  };
  if (!isResumed) await removeForms(join(workspace, SESSION_FOLDER));
  await write(EPIC_FILE, renderEpicFile(epic));
  await write(TASK_FILE, renderTaskFile(facts));
  for (const { file, text } of forms) await write(join(SESSION_FOLDER, file), text);
  await write(MISSION_FILE, renderMission(mission));
}

/** The forms of the session before belong to another role. */
async function removeForms(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => []))
    if (/^(?:handoff.*|workflow-complete)\.xml$/.test(name)) await rm(join(folder, name), { force: true });
}

function describeConstraints({ constraints = {}, timeout }: Mission): string[] {
  const { max_files, no_git_commit, no_new_deps } = constraints;
  return [
    ...(max_files === undefined ? [] : [`Change more than ${max_files} files.`]),
    ...(no_git_commit === true ? ['Commit.'] : []),
    ...(no_new_deps === true ? ['Add a dependency, in a manifest or in a lock file.'] : []),
    ...(timeout === undefined || timeout === 0 ? [] : [`Take longer than ${timeout} seconds: you would be ended.`]),
  ];
}

const MOST_PROMPT_BYTES = 65_536;

async function readPrompt(workspace: string, path: string | null): Promise<TaskFacts['prompt']> {
  if (path === null || !isRelativePath(path)) return null;
  const bytes = await readInside(workspace, path, MOST_PROMPT_BYTES);
  return bytes === undefined ? null : { path, text: bytes.toString('utf8') };
}

async function readLeftovers(workspace: string): Promise<readonly string[]> {
  const status = await git(['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=all'], {
    cwd: workspace,
  });
  if (!status.ok) return [];
  return status.value.stdout
    .split('\0')
    .filter((each) => each !== '')
    .map((each) => each.slice(3));
}

/** Whoever judges the work gets it whole, as far as there is room, also in a role of the runbook's own; authors see what it touches. */
async function readChange(workspace: string, role: string | null): Promise<Change | null> {
  const main = await findMainBranch(workspace);
  if (!main.ok) return null;
  const from = await gitText(['merge-base', main.value.sha, 'HEAD'], { cwd: workspace });
  const to = await gitText(['rev-parse', 'HEAD'], { cwd: workspace });
  if (!from.ok || !to.ok || from.value === to.value) return null;
  const asked = ['diff', '--no-ext-diff', '--no-color', from.value, to.value, '--'];
  const stat = await gitText(['diff', '--stat=100', '--no-ext-diff', '--no-color', from.value, to.value, '--'], {
    cwd: workspace,
  });
  const isJudge = role !== null && !isAuthor(role);
  const diff = isJudge ? await gitText(asked, { cwd: workspace }) : null;
  return {
    from: from.value,
    to: to.value,
    stat: stat.ok ? stat.value : '',
    diff: diff?.ok === true ? diff.value : null,
  };
}
