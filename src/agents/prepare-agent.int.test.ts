import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../../test/processes/until.ts';
import type { AgentPlan } from '../protocol/run-plan.ts';
import type { HookConfig } from '../supervisor/contract.ts';
import { readFileIfPresent } from '../api/files.ts';
import { findPrograms } from '../supervisor/programs.ts';
import { PROGRAMS, Scene, TOKEN, type Supervised } from '../supervisor/scene.cases.ts';
import type { AgentContext } from './adapter.ts';
import { prepareAgent } from './prepare-agent.ts';

/** Starts an agent as the daemon does: prepared by its adapter, under a supervisor. */
async function start(
  scene: Scene,
  plan: Partial<AgentPlan>,
  context: Partial<AgentContext> = {},
  config: HookConfig = { on_stop: 'signal' },
): Promise<Supervised> {
  const begun = {
    agentId: scene.agentId,
    start: 1,
    prompt: null,
    isResume: false,
    conversation: null,
    stateDir: scene.stateDir,
  } as const;
  const script = plan.run === undefined ? { script: readFileIfPresent(join(scene.cwd, 'script.yaml')) } : {};
  const where = { cwd: scene.cwd, ...script, programs: await findPrograms(PROGRAMS) };
  const whole = { ...begun, ...where, ...context };
  const prepared = prepareAgent({ name: 'a', run: 'scripted script.yaml', ...plan }, whole);
  if (!prepared.ok) throw new Error(prepared.reason);
  const { writes = [], ...parts } = prepared.launch;
  return scene.start({ ...parts, folders: writes, start: whole.start }, config);
}

const script = (scene: Scene, text: string): void => writeFileSync(join(scene.cwd, 'script.yaml'), text);

describe('a scripted agent under its supervisor', () => {
  it('is blocked until it signals through its own `baton`, and then exits', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    script(scene, 'steps: [say: Working]\non_block: [signal: { kind: complete, message: "It\'s done" }]');
    const run = await start(scene, {});
    const exit = await run.exit();
    expect(exit).toMatchObject({ code: 0, blocks_used: false, output: 'Working' });
    expect(scene.daemon.of('agent_signal')).toMatchObject([
      { token: TOKEN, input: { kind: 'complete', message: "It's done" } },
    ]);
    expect(readFileSync(run.files.conversation, 'utf8')).toBe(scene.agentId);
  });

  it('works while the daemon is unavailable, and its messages arrive afterwards', async () => {
    await using scene = new Scene();
    script(scene, '- stop\n- run: "true"\n- stop\n- signal: complete\n- stop\n');
    const run = await start(scene, {}, {}, { on_stop: 'signal', attempts: 3 });
    expect(await run.exit()).toMatchObject({ code: 0, blocks_used: false });
    expect(scene.daemon.calls).toEqual([]);
    await scene.daemon.start();
    expect(scene.daemon.calls.map(({ operation, input }) => `${operation} ${String(input['kind'])}`)).toEqual([
      'agent_report started',
      'agent_report used',
      'agent_report blocked',
      'agent_report blocked',
      'agent_signal complete',
      'agent_report used',
      'agent_report exited',
    ]);
  });

  it('takes its prompt as the script if none is named, and continues with a message', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const run = await start(
      scene,
      { run: 'scripted' },
      { prompt: '- say: First\n- crash: 1\n- say: Second\n- signal: complete\n' },
    );
    expect(await run.exit()).toMatchObject({ code: 1, output: 'First' });
    const resumed = await start(scene, { run: 'scripted' }, { start: 2, isResume: true, prompt: 'Go on' });
    expect(await resumed.exit()).toMatchObject({ code: 0, output: 'Second' });
    expect(readFileSync(join(run.files.folder, 'kept', `scripted-${scene.agentId}.json`), 'utf8')).toContain(
      '"text":"Go on"',
    );
  });

  it('continues when a message arrives while it waits', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    script(scene, '- ask: May I?\n- say: Thank you\n- signal: complete\n');
    const run = await start(scene, {});
    await until('it asks', () => scene.daemon.reports('prompted').length === 1);
    await run.control({ kind: 'send', message_id: 'm1', text: 'Yes' });
    expect(await run.exit()).toMatchObject({ code: 0, output: 'Thank you' });
  });

  it('reports an error of its model before it exits, and does not count as idle', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    script(scene, '- error: { kind: rate_limited, reset_at: "2030-01-01T00:00:00Z" }\n- say: Back\n- signal: complete');
    const run = await start(scene, {});
    const [failure] = await until('it has failed', () => {
      const failed = scene.daemon.reports('errored');
      return failed.length > 0 && failed;
    });
    expect(failure?.input).toMatchObject({ error: 'rate_limited', reset_at: '2030-01-01T00:00:00.000Z' });
    await run.control({ kind: 'send', message_id: 'm1', text: 'Try again' });
    expect(await run.exit()).toMatchObject({ code: 0 });
    expect(scene.daemon.reports('idle')).toEqual([]);
  });

  it('cannot be switched off by settings that it writes itself', async () => {
    await using scene = new Scene();
    script(
      scene,
      `- write: { path: .claude/settings.json, text: '{"disableAllHooks": true}' }\n- stop\n- say: Still here\n- signal: complete`,
    );
    const run = await start(scene, {});
    expect(await run.exit()).toMatchObject({ output: 'Still here' });
  });

  it('needs a script', () => {
    const context = {
      agentId: 'a',
      start: 1,
      prompt: null,
      isResume: false,
      conversation: null,
      stateDir: '/s',
      cwd: '/c',
    };
    const programs = {
      supervisor: '',
      stopHook: '',
      scripted: '',
      builtin: '/builtin.cjs',
      acpDriver: '/acp.cjs',
      networkHelper: '',
      shellForward: '',
      baton: '',
    };
    expect(prepareAgent({ name: 'a', run: 'scripted' }, { ...context, programs })).toMatchObject({
      ok: false,
      reason: expect.stringContaining('needs a script'),
    });
    expect(prepareAgent({ name: 'a', run: 'builtin:prep' }, { ...context, programs })).toMatchObject({
      ok: true,
      launch: { argv: [process.execPath, '/builtin.cjs', 'prep'] },
    });
    expect(prepareAgent({ name: 'a', run: 'builtin:cook' }, { ...context, programs })).toMatchObject({
      ok: false,
      reason: 'there is no built-in role `cook`: there are prep, validator, closer',
    });
  });
});

describe('any other command', () => {
  it('gets its prompt on standard input and in a file, and `baton` on its path', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const run = await start(
      scene,
      {
        run: 'read line; echo "$line"; cat "$BATON_PROMPT_FILE"; baton --version; command -v baton; echo $X',
        env: { X: 'y' },
      },
      { prompt: 'Do it.' },
    );
    const version = execFileSync(process.execPath, ['-p', 'require("./package.json").version'], {
      encoding: 'utf8',
    }).trim();
    expect((await run.exit()).output).toBe(`Do it.\nDo it.${version}\n${run.files.bin}/baton\ny`);
  });
});
