import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT_NO_ROOM, type Launch } from '../../supervisor/contract.ts';
import { findPrograms, type Programs } from '../../supervisor/programs.ts';
import { launchIn, Scene } from '../../supervisor/scene.cases.ts';
import { isTransient } from '../due.ts';
import { type StartedSupervisor, startSupervisor, waitForEnd } from './supervisor.ts';

/** The supervisor's programs; the first `times` starts are killed at once. */
async function killedAtFirst(scene: Scene, times: number): Promise<Programs> {
  const programs = await findPrograms(scene.stateDir);
  const supervisor = join(scene.folder, 'supervisor.cjs');
  writeFileSync(
    supervisor,
    `const { appendFileSync, readFileSync } = require('node:fs');
     const tries = ${JSON.stringify(join(scene.folder, 'tries'))};
     appendFileSync(tries, 'x');
     if (readFileSync(tries).length <= ${times}) process.kill(process.pid, 'SIGKILL');
     require(${JSON.stringify(programs.supervisor)});`,
  );
  return { ...programs, supervisor };
}

const signal = new AbortController().signal;

async function start(scene: Scene, killed: number): Promise<StartedSupervisor> {
  const launch: Launch = { ...launchIn(scene), argv: ['/bin/sh', '-c', 'echo ran >> ran.txt'] };
  const options = { programs: await killedAtFirst(scene, killed), env: process.env, signal, startMs: 30_000 };
  return startSupervisor(scene.files(), launch, options);
}

describe('a supervisor that is killed before it takes the start', () => {
  it('is started again, and runs the command once', async () => {
    await using scene = new Scene();
    const { spawned, settling } = await start(scene, 2);
    expect(settling?.found.kind).toMatch(/^(?:running|ended)$/);
    const ended = await waitForEnd({ files: scene.files(), start: 1, spawned, signal });
    expect(ended?.found).toMatchObject({ kind: 'ended', exit: { code: 0 } });
    expect(readFileSync(join(scene.cwd, 'ran.txt'), 'utf8')).toBe('ran\n');
  });

  it('fails after several kills, with the reason', async () => {
    await using scene = new Scene();
    const { settling } = await start(scene, 100);
    expect(settling).toMatchObject({ found: { kind: 'untaken' }, lastOutput: 'it ended with SIGKILL' });
    expect(readFileSync(join(scene.folder, 'tries'), 'utf8')).toBe('xxx');
  });
});

it('a supervisor without resources is no outcome: the effect is retried', async () => {
  await using scene = new Scene();
  const supervisor = join(scene.folder, 'supervisor.cjs');
  writeFileSync(supervisor, `process.exitCode = ${EXIT_NO_ROOM};`);
  const programs = { ...(await findPrograms(scene.stateDir)), supervisor };
  const options = { programs, env: process.env, signal, startMs: 30_000 };
  const started = startSupervisor(scene.files(), launchIn(scene), options);
  await expect(started).rejects.toSatisfy((error) => isTransient(error, 0));
});

describe('the environment of a started process', () => {
  it('has only allowed variables, for the supervisor and for its child; the launch names the others', async () => {
    await using scene = new Scene();
    const look = 'tr "\\0" "\\n" < /proc/$PPID/environ > parent.txt; env > own.txt';
    const launch: Launch = { ...launchIn(scene), argv: ['/bin/sh', '-c', look], env_pass: ['WANTED_*'] };
    const env = { PATH: process.env['PATH'], WANTED_A: 'wanted', AWS_KEY: 'secret-a', BATON_SECRET: 'secret-b' };
    const options = { programs: await findPrograms(scene.stateDir), env, signal, startMs: 30_000 };
    const { spawned } = await startSupervisor(scene.files(), launch, options);
    await waitForEnd({ files: scene.files(), start: 1, spawned, signal });
    for (const name of ['own.txt', 'parent.txt']) {
      const seen = readFileSync(join(scene.cwd, name), 'utf8');
      expect(seen).toContain('WANTED_A=wanted');
      expect(seen).not.toContain('secret-');
    }
    const kept = readFileSync(scene.files().launch(1), 'utf8');
    expect(JSON.parse(kept)).toMatchObject({ env_dropped: ['AWS_KEY', 'BATON_SECRET'] });
    expect(kept).not.toContain('secret-');
  });
});
