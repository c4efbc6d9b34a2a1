import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RunScene } from '../../src/daemon/runs.cases.ts';
import { until } from '../../src/daemon/running.cases.ts';
import { gitText } from '../../src/git/run-git.ts';
import { probeBubblewrap } from '../../src/sandbox/probe.ts';

const bubblewrap = await probeBubblewrap();
const unless = bubblewrap.works ? '' : ` (NOT RUN: ${bubblewrap.reason})`;
let scene: RunScene;
beforeEach(() => {
  scene = new RunScene();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await scene.end();
});

describe("a person's commit to main while a session is starting", () => {
  it.skipIf(!bubblewrap.works)(`is theirs if the session will run in a sandbox${unless}`, async () => {
    expect(await commitMeanwhile('bubblewrap')).toMatchObject({ sessions: [] });
    expect(await scene.types()).not.toContain('DecisionOpened');
  });

  it('is suspect if it will not', async () => {
    expect(await commitMeanwhile('none')).toMatchObject({ sessions: [{ name: 'coder', task_id: 'T1' }] });
  });
});

/** The person commits while git writes the files of the worktree. Returns what was recorded of their commit. */
async function commitMeanwhile(mode: string): Promise<Readonly<Record<string, unknown>>> {
  const { repository } = scene;
  const [config, waits, go] = ['gitconfig', 'waits', 'go'].map((name) => join(scene.stateDir, '..', name));
  const smudge = `touch '${waits}'; while [ ! -e '${go}' ]; do sleep 0.05; done; cat`;
  const identity = '[user]\n\tname = Grace\n\temail = grace@example.org\n';
  writeFileSync(String(config), `${identity}[filter "slow"]\n\tsmudge = "${smudge}"\n\tclean = cat\n`);
  writeFileSync(join(repository, '.gitattributes'), '*.slow filter=slow\n');
  writeFileSync(join(repository, 'a.slow'), 'content\n');
  scene.write(`
    [agents.coder]
    run = "true"
    sandbox = "${mode}"
    [workers.w]
    run = { agent = "coder" }`);
  // The daemon is in this process, and reads the configuration of its operator.
  vi.stubEnv('GIT_CONFIG_GLOBAL', String(config));
  const git = async (...args: string[]) => gitText(args, { cwd: repository });
  await git('add', '--all');
  await git('commit', '--quiet', '-m', 'files');
  await scene.start();
  await scene.ask('task_create', { task_id: 'T1', title: 'One' });
  await until(() => existsSync(String(waits)), 'the worktree is being made');
  await git('commit', '--quiet', '--allow-empty', '-m', 'by hand');
  const sha = await gitText(['rev-parse', 'HEAD'], { cwd: repository });
  const find = async () =>
    (await scene.entries()).find(({ type, data }) => type === 'MainMoved' && data['new'] === (sha.ok && sha.value));
  await until(async () => (await find()) !== undefined, 'the commit is recorded');
  writeFileSync(String(go), '');
  return (await find())?.data ?? {};
}
