import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { about, readLedger, textOf } from '../../processes/ledger.ts';
import { record } from '../../processes/messages.ts';
import { RunWorld } from '../../processes/run-world.ts';

export interface CheckWorldOptions {
  /** The check that a merge requires. */
  readonly check: string;
  /** `workspace.setup` */
  readonly setup?: string;
  /** Sections of the runbook with agents. */
  readonly agents?: string;
  /** `sandbox.read` */
  readonly read?: readonly string[];
  /** The files of the main branch. */
  readonly files: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** How the merge of a task ended, and what its check printed. */
export interface CheckEnd {
  readonly outcome: unknown;
  readonly printed: string;
}

/** A world in which tasks are merged after a check, each with its own branch and without an agent. */
export class CheckWorld implements AsyncDisposable {
  readonly run: RunWorld;

  private constructor(run: RunWorld) {
    this.run = run;
  }

  static async open({ check, setup, agents = '', read = [], files, env = {} }: CheckWorldOptions): Promise<CheckWorld> {
    const lines = [
      `sandbox = { mode = "bubblewrap", read = ${JSON.stringify(read)} }`,
      ...(setup === undefined
        ? []
        : ['[workspace]', `setup = ${JSON.stringify(setup)}`, '[network]', 'install = "none"']),
      '[[ci.required]]',
      'name = "test"',
      `run = ${JSON.stringify(check)}`,
      agents,
    ];
    return new CheckWorld(await RunWorld.open({ runbook: lines.join('\n'), scripts: files, env }));
  }

  get stateDir(): string {
    return this.run.world.stateDir;
  }

  /** A person commits files on the main branch; null removes one. */
  move(files: Readonly<Record<string, string | null>>): void {
    const { world, repository } = this.run;
    const removed = Object.keys(files).filter((path) => files[path] === null);
    if (removed.length > 0) world.git(repository, 'rm', '--quiet', ...removed);
    const written = Object.entries(files).filter((pair): pair is [string, string] => pair[1] !== null);
    world.write(repository, Object.fromEntries(written));
    world.git(repository, 'add', ...written.map(([path]) => path));
    world.git(repository, 'commit', '--quiet', '--message', 'chore: move main');
  }

  /** Commits files on a branch of its own and asks for the merge. */
  async check(taskId: string, files: Readonly<Record<string, string>>): Promise<CheckEnd> {
    const { world, repository } = this.run;
    const folder = join(repository, '.worktrees', taskId);
    world.git(repository, 'worktree', 'add', '--quiet', '-b', taskId, folder, 'main');
    const head = world.commit(folder, files, `work on ${taskId}`);
    await this.run.ask('task_create', { task_id: taskId, title: taskId, phase: 'READY_FOR_MERGE' });
    await this.run.ask('thought_record', record(taskId, head, { branch: taskId }));
    await this.run.ask('task_self_approve', { task_id: taskId, reason: 'nobody else is here' });
    await this.run.ask('merge_request', { task_id: taskId });
    const ended = await this.run.until(`the merge of ${taskId} has ended`, async () =>
      about(await readLedger(world), taskId, 'MergeFinished').at(-1),
    );
    const logs = globSync(
      join(this.stateDir, 'commands', `${textOf(ended.data, 'merge_id')}*`, 'output.log'),
    ).toSorted();
    return {
      outcome: ended.data['outcome'],
      printed: logs.map((path) => readFileSync(path, 'utf8')).join('\n') || JSON.stringify(ended.data),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run[Symbol.asyncDispose]();
  }
}
