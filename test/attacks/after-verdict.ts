import { until } from '../../src/daemon/running.cases.ts';
import { type WorkflowEnd, WorkflowScene } from '../processes/workflow-scene.ts';

/** How the reviewer brings its commit in, as the body of a function of `agents/play.mjs`. */
export const WAYS = {
  'git commit': `ask(); late();`,
  'a ref file': `ask(); writeRef(late('--no-verify'));`,
  'packed refs': `ask(); late(); try { git('pack-refs', '--all') } catch {}`,
  'an amended commit': `ask(); late('--amend');`,
  'a second worktree': `ask();
    const place = join(git('rev-parse', '--git-dir'), 'second');
    git('worktree', 'add', '--quiet', '--force', place, git('branch', '--show-current'));
    process.chdir(place);
    late();`,
  'uncommitted files': `ask(); plant();`,
  'a process that commits while it sends its verdict': `const branch = git('branch', '--show-current');
    spawn('sh', ['-c', 'for i in 1 2 3 4 5 6 7 8 9; do echo $i >backdoor.txt; git add -A; git -c user.name=r -c user.email=r@r commit -qm late; sleep 0.05; done'], { detached: true, stdio: 'ignore' }).unref();
    ask();
    execFileSync('sleep', ['1']);`,
} as const;

export type Way = keyof typeof WAYS;

const SHARED = `
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
const ask = () => handOn('fixer-agent', 'An invalid duration returns NaN', { location: CODE + ':12', severity: 'critical' });
const plant = () => writeFileSync('backdoor.txt', 'mine');
const late = (...options) => {
  plant();
  git('add', '--all');
  const identity = ['-c', 'user.name=r', '-c', 'user.email=r@r'];
  try {
    git(...identity, 'commit', '--quiet', '--message', 'late', ...options);
  } catch {
    console.log('REFUSED');
  }
  const head = git(...identity, 'commit-tree', '-p', 'HEAD', '-m', 'late', git('write-tree'));
  console.log('LATE ' + head);
  return head;
};
const writeRef = (head) => {
  const path = join(git('rev-parse', '--path-format=absolute', '--git-common-dir'), 'refs/heads', git('branch', '--show-current'));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, head + '\\n');
};
`;

/** A workflow whose reviewer asks for changes, brings in a commit of its own after that, and approves the next round. */
export class AfterVerdict implements AsyncDisposable {
  readonly scene: WorkflowScene;
  readonly id: string;
  readonly end: WorkflowEnd;
  readonly authors: readonly string[];
  readonly sources: readonly string[];

  private constructor(
    scene: WorkflowScene,
    id: string,
    end: WorkflowEnd,
    found: Pick<AfterVerdict, 'authors' | 'sources'>,
  ) {
    this.scene = scene;
    this.id = id;
    this.end = end;
    this.authors = found.authors;
    this.sources = found.sources;
  }

  static async play(mode: 'bubblewrap' | 'none', way: Way): Promise<AfterVerdict> {
    const scene = new WorkflowScene((toml) => `sandbox = { mode = "${mode}" }\n${toml}`);
    scene.edit('agents/play.mjs', (text) => text.replace(/^(import [^;]*;\n)+/, (imports) => `${imports}${SHARED}`));
    const approve = `if (readFileSync(CODE, 'utf8').includes('throw')) return handOn('validator-agent', 'It is right', {});`;
    const [before = '', after = ''] = WAYS[way].split('ask();');
    const isRefusal = `readFileSync('.baton/session/handoff.xml', 'utf8').includes('fixer-agent')`;
    scene.plays('late', `if (${isRefusal}) { ${after} }`);
    scene.plays('reviewer', `${approve} ${before} ask();`, 'late');
    await scene.start();
    const id = await scene.run('issue', 'Read durations back');
    const end = await settle(scene, id);
    const moved = (await scene.story(id)).filter(({ type }) => type === 'BranchMoved');
    const authors = await authorsOf(scene, id);
    return new AfterVerdict(scene, id, end, {
      authors,
      sources: moved.flatMap(({ data }) => data['sources'] as string[]),
    });
  }

  /** The files of the reviewer that are on the main branch. */
  onMain(): readonly string[] {
    const files = this.scene.git('ls-tree', '-r', '--name-only', 'main').split('\n');
    return files.filter((name) => name.startsWith('backdoor'));
  }

  /** What the reviewer printed. */
  printed(): string {
    return this.scene.printed();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.scene.end();
  }
}

async function authorsOf(scene: WorkflowScene, id: string): Promise<readonly string[]> {
  const { authors } = await scene.ask<{ authors: string[] }>('task_get', { task_id: id });
  return authors;
}

/** Waits until the workflow is over, waits for a person, or has only an author left to review it. */
async function settle(scene: WorkflowScene, id: string): Promise<WorkflowEnd> {
  let end = await scene.standing(id);
  const isSettled = async (): Promise<boolean> => {
    end = await scene.standing(id);
    if (end.is === 'closed' || end.is === 'waits') return true;
    return end.phase === 'READY_FOR_REVIEW' && (await authorsOf(scene, id)).includes('agent:reviewer');
  };
  await until(isSettled, 'the workflow ends', 150_000);
  return end;
}
