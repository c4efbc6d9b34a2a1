import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { personalFile } from '../processes/personal.ts';
import { type WorkflowEnd, WorkflowScene } from '../processes/workflow-scene.ts';

const TESTS = readFileSync(join(import.meta.dirname, 'tests-that-approve.mjs'), 'utf8');

/** The whole work at once, with the tests that approve it. `isBroken`: it returns NaN for an invalid duration. */
const IMPLEMENT = `
  writeFileSync(CODE, code({ hour: 3_600_000, isStrict: false }));
  writeFileSync('test/approves.test.js', TESTS);
  commit('test: more of them');
  handOn('reviewer-agent', 'parseDuration reads what formatDuration writes', { tests_added: '2' });`;

/** What the reviewer runs before its verdict. */
export const RUN_TESTS = `
  const { status } = spawnSync(process.execPath, ['--test', 'test/approves.test.js'], { stdio: 'inherit' });
  process.stdout.write('TESTS ' + status);`;
export const REFUSE = `handOn('fixer-agent', 'An invalid duration returns NaN', { location: CODE + ':12', severity: 'critical' });`;
export const APPROVE = `handOn('validator-agent', 'It does what the issue asks', {});`;

export interface Verdicts {
  readonly mode: 'bubblewrap' | 'none';
  readonly unseparated: 'ask' | 'accept';
  /** What the reviewer's script does, in a shell, before it sends the forms that it has filled in. */
  readonly reviews: string;
}

/** A workflow whose branch has tests that approve it, and whose reviewer may run them. */
export class ForgedVerdict implements AsyncDisposable {
  readonly scene: WorkflowScene;
  readonly id: string;

  private constructor(scene: WorkflowScene, id: string) {
    this.scene = scene;
    this.id = id;
  }

  static async open({ mode, unseparated, reviews }: Verdicts): Promise<ForgedVerdict> {
    const scene = new WorkflowScene((toml) => `sandbox = { mode = "${mode}" }\n${toml}`);
    scene.edit(
      'agents/play.mjs',
      (text) => `import { spawnSync } from 'node:child_process';\nconst TESTS = ${JSON.stringify(TESTS)};\n${text}`,
    );
    scene.plays('implementer', IMPLEMENT);
    scene.plays('reviewer', reviews);
    if (unseparated === 'ask') rmSync(personalFile(scene.scene.folder));
    await scene.start();
    return new ForgedVerdict(scene, await scene.run('issue', 'Read durations back'));
  }

  async ended(): Promise<WorkflowEnd | undefined> {
    return this.scene.ended(this.id, 150_000);
  }

  /** The data of the entries of this type about the task, oldest first. */
  async told(type: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return (await this.scene.story(this.id)).filter((each) => each.type === type).map(({ data }) => data);
  }

  /** What the agents printed. */
  printed(): string {
    return this.scene.printed();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.scene.end();
  }
}
