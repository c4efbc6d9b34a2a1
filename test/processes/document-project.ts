import { execFileSync } from 'node:child_process';
import type { Agent } from './agent.ts';
import { World } from './world.ts';

/** A repository as the handoff document (source document 004) describes it, with its first tasks and a remote. */
export async function documentProject(settings: Readonly<Record<string, string>> = {}): Promise<World> {
  const world = await World.open(settings);
  world.commit(world.repository, FILES, 'the documents that agents read first');
  world.git(world.folder, 'init', '--quiet', '--bare', '--initial-branch=main', 'origin.git');
  world.git(world.repository, 'remote', 'add', 'origin', `${world.folder}/origin.git`);
  world.git(world.repository, 'push', '--quiet', 'origin', 'main');
  for (const task of TASKS) await world.order('task_create', { prompt_file: PROMPTS, ...task });
  return world;
}

export const PROMPTS = 'docs/guides/implementation/task-prompts/p0.1-infrastructure.md';
export const EXTRACTION = 'docs/reference/extractions/task-pipeline-algorithm.md';

/** P0.1.2 is on the critical path, because P0.1.3 waits for it. */
const TASKS = [
  { task_id: 'P0.1.1', title: 'Package setup' },
  { task_id: 'P0.1.2', title: 'Linter', after: ['P0.1.1'] },
  { task_id: 'P0.1.3', title: 'Continuous integration', after: ['P0.1.2'] },
  { task_id: 'P0.1.4', title: 'Editor settings', after: ['P0.1.1'] },
  { task_id: 'P0.2.2', title: 'Something else' },
];

const FILES = {
  'CLAUDE.md': '# Rules\n\nOne worktree for each task.\n',
  'AGENTS.md': '# Roles\n',
  'docs/guides/agent-bootstrap.md': '# Bootstrap\n',
  [PROMPTS]: `# P0.1 infrastructure\n\nSet the package up. See \`${EXTRACTION}\`.\n\n- [ ] npm test passes\n`,
  [EXTRACTION]: '# Algorithm\n',
  'package.json': '{ "scripts": { "test": "node smoke.test.mjs", "lint": "node --check smoke.test.mjs" } }\n',
  'smoke.test.mjs': "import { existsSync } from 'node:fs';\nprocess.exit(existsSync('package.json') ? 0 : 1);\n",
  '.gitignore': '.worktrees/\n',
};

/** Runs the package's scripts `test` and `lint` without the second that npm takes to start; throws if one fails. */
export function runTests(world: World, folder: string): void {
  for (const script of ['test', 'lint'])
    execFileSync(process.execPath, ['--run', script], { cwd: folder, env: world.env, stdio: 'ignore' });
}

export interface Worked {
  readonly tree: string;
  readonly branch: string;
  readonly commit: string;
  readonly file: string;
}

/** Stage 1 in one of Baton's worktrees: a file, the document's commit message, a push. */
export async function work(world: World, agent: Agent, taskId: string, word = 'done'): Promise<Worked> {
  const { path, branch } = await agent.do('task_worktree');
  const { title } = await agent.do('task_get', { task_id: taskId });
  const [tree, file] = [String(path), `${taskId}.txt`];
  const commit = world.commit(tree, { [file]: `${word}\n` }, `task: ${taskId} — ${String(title)}`);
  world.git(tree, 'push', '--quiet', 'origin', 'HEAD');
  return { tree, branch: String(branch), commit, file };
}

export async function nextActions(agent: Agent): Promise<unknown[]> {
  const { tasks } = await agent.do('task_next_actions');
  if (!Array.isArray(tasks)) throw new Error('not a list');
  return tasks.map((task: unknown) => (typeof task === 'object' && task !== null && 'id' in task ? task.id : task));
}

/** The text of the document. */
export const WRITEBACK_REQUIRED = 'Writeback required: thought_record must be recorded before task completion.';
export const WRITEBACK_FAILED =
  'Writeback failed: unable to insert thought_record. Retry with fresh DB connection or escalate.';
