import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../src/daemon/running.cases.ts';
import { inLongLane } from '../lanes.ts';
import { WorkflowScene } from '../processes/workflow-scene.ts';
import { runCli } from '../run-cli.ts';

let scene: WorkflowScene | undefined;
afterEach(async () => {
  await scene?.end();
  scene = undefined;
});

/** The times at which a role's sessions were requested, in milliseconds. */
async function starts(walked: WorkflowScene, id: string, role: string): Promise<number[]> {
  const claims = (await walked.story(id)).filter(({ type, data }) => type === 'TaskClaimed' && data['role'] === role);
  return claims.map(({ at }) => Date.parse(at));
}

/**
 * An implementer that reports the error of document 003 twice, the second time as not recoverable, and then does its
 * work.
 */
const FAILING = `import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Expectations, parsePacket } from './given.mjs';
import { baton, readTask } from './hand-on.mjs';

const kept = (n) => process.env.NOTES + '/task-' + n + '.md';
const n = [1, 2, 3].find((each) => !existsSync(kept(each)));
writeFileSync(kept(n), readTask());
if (n > 1) {
  const expects = new Expectations();
  const reported = ['TypeScript compilation failed', "Cannot find module '@/auth/types'", 'Check import paths and module resolution'];
  expects.has(parsePacket(readTask()), 'Errors that agents reported', 'implementer (implementer)', ...reported);
  expects.end();
}
if (n === 3) {
  for (const role of ['implement', 'implementer']) execFileSync('node', ['agents/play.mjs', role], { stdio: 'inherit' });
} else {
  const error = readFileSync('agents/error.xml', 'utf8');
  writeFileSync('.baton/session/error.xml', n === 1 ? error : error.replace('>true<', '>false<'));
  baton('handoff', 'send', '.baton/session/error.xml');
  const exit = { protocol: 'apm2_agent_exit', version: '1.0.0', phase_completed: 'IMPLEMENTATION' };
  baton('emit', 'exit', JSON.stringify({ ...exit, exit_reason: n === 1 ? 'error' : 'blocked' }));
}
`;

const GIVEN = join(import.meta.dirname, '../processes/given.mjs');
const ERROR = join(import.meta.dirname, '../fixtures/handoff/error.xml');

/**
 * `src/engine/workflow.test.ts` tests the rules; here one of them runs with real time, real commands and a real daemon.
 */
describe('a workflow', () => {
  inLongLane(() => {
    it(
      'retries a failed install after a second, and asks a person when a phase takes too long',
      { timeout: 120_000 },
      async () => {
        const install = 'echo x >> $NOTES/tries; test $(wc -l < $NOTES/tries) -ge 2';
        scene = new WorkflowScene(
          (toml) =>
            `${toml.replace(/build = .*\nsmoke = .*\n/, `install = "${install}"\n`)}\n[limits]\nstall = { IMPLEMENTATION = "1s" }\n`,
        );
        scene.edit('agents/implementer.yaml', (text) => `- run: while [ ! -e $NOTES/go ]; do sleep 0.1; done\n${text}`);
        const notes = scene.shareNotes();
        scene.git('commit', '--quiet', '--all', '--message', 'slow');
        await scene.start();
        const id = await scene.run('issue', 'Read durations back');
        const end = await scene.ended(id, 60_000);
        expect(end).toMatchObject({ is: 'waits', because: expect.stringContaining('has stalled') });
        const [first = 0, second = 0, ...more] = await starts(scene, id, 'prep');
        expect(second - first).toBeGreaterThanOrEqual(1000);
        expect(more).toEqual([]);
        expect(await scene.handoffs(id)).toEqual([
          'issue-manager → prep-agent',
          'prep-agent → orchestrator',
          'prep-agent → implementer-agent',
        ]);
        writeFileSync(join(notes, 'go'), '');
        await scene.resolveAll(id);
        await until(
          async () => (await scene?.phases(id))?.includes('CI_PENDING (session)') === true,
          'it goes on',
          60_000,
        );
      },
    );
  });

  it('passes a reported error to the next session, and to the decision', { timeout: 120_000 }, async () => {
    scene = new WorkflowScene();
    scene.put('agents/fail.mjs', FAILING);
    scene.put('agents/given.mjs', readFileSync(GIVEN, 'utf8'));
    scene.put('agents/error.xml', readFileSync(ERROR, 'utf8'));
    scene.put('agents/implementer.yaml', '- run: node agents/fail.mjs\n- stop\n');
    const notes = scene.shareNotes();
    scene.git('add', '--all');
    scene.git('commit', '--quiet', '--message', 'an implementer that fails');
    await scene.start();
    const id = await scene.run('issue', 'Read durations back');
    const end = await scene.ended(id, 60_000);
    const given = (n: number): string => readFileSync(join(notes, `task-${n}.md`), 'utf8');

    // Recoverable: the same role retries, with the error and its original input.
    const [first = 0, second = 0, ...more] = await starts(scene, id, 'implementer');
    expect(second - first).toBeGreaterThanOrEqual(1000);
    expect(more).toEqual([]);
    expect(given(1)).not.toContain('TypeScript compilation failed');
    // The session itself looks for the error (agents/fail.mjs).
    expect(given(2)).toContain('The handoff to you, from prep-agent');

    // Not recoverable: the decision shows everything that was reported.
    expect(end?.is).toBe('waits');
    expect(await scene.standing(id)).toMatchObject({ phase: 'BLOCKED' });
    const { needs_you } = await scene.ask<{ needs_you: { id: string }[] }>('status_get');
    const place = { env: scene.scene.env, cwd: scene.repository };
    const { out } = await runCli(['decision', 'show', needs_you[0]?.id ?? ''], '', place);
    for (const text of ['BuildError', 'TypeScript compilation failed', "'@/auth/types'", 'Check import paths'])
      expect(out).toContain(text);
    const summary =
      'BuildError: TypeScript compilation failed; suggested action: Check import paths and module resolution';
    const { handoffs } = await scene.ask<{ handoffs: { to: string; status: string; reason: string | null }[] }>(
      'handoff_list',
      { task_id: id },
    );
    const reported = { to: 'orchestrator', status: 'delivered', reason: summary };
    expect(handoffs.filter(({ to }) => to === 'orchestrator')).toMatchObject([reported, reported]);
    await scene.resolveAll(id);
    await until(async () => (await scene?.phases(id))?.includes('CI_PENDING (session)') === true, 'it goes on', 60_000);
    expect(given(3)).toContain('Check import paths and module resolution');
  });
});
