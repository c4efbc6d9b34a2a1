import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunScene } from '../../src/daemon/runs.cases.ts';
import { until } from '../../src/daemon/running.cases.ts';
import { readRunning } from '../../src/effects/processes/supervised.ts';
import { agentFiles } from '../../src/supervisor/contract.ts';
import { readHeldMessages } from '../../src/supervisor/held-messages.ts';
import { inLongLane } from '../lanes.ts';

/** A program that reads its prompt to the end, as Codex does, and then works until a file tells it how to continue. */
const CLIENT = `#!/bin/sh
n=1
while [ -e "$OUT/said-$n" ]; do n=$((n + 1)); done
cat > "$OUT/draft-$n"
echo '{"type":"thread.started","thread_id":"00000000-0000-4000-8000-00000000000a"}'
echo '{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"I work."}}'
mv "$OUT/draft-$n" "$OUT/said-$n"
while [ ! -e "$OUT/go-$n" ]; do sleep 0.02; done
. "$OUT/go-$n"
`;

const MESSAGE = 'Mind the gap.';
let scene: RunScene;
let out: string;
let id: string;

beforeEach(async () => {
  scene = new RunScene();
  out = join(scene.scene.folder, 'out');
  const bin = join(scene.scene.folder, 'bin');
  for (const folder of [out, bin]) mkdirSync(folder);
  writeFileSync(join(bin, 'codex'), CLIENT);
  chmodSync(join(bin, 'codex'), 0o755);
  scene.write(`
    env_pass = ["OUT"]
    limits = { kill_after = "300ms" }
    [agents.coder]
    run = "codex"
    sandbox = { write = ["${out}"] }
    prompt = "Do the task."
    on_stop = "signal"
    on_dead = { action = "resume", message = "Go on, please.", attempts = 5 }`);
  await scene.start(env(bin));
  id = await scene.run('coder');
  await begun(1);
  await scene.ask('agent_send', { id, text: MESSAGE });
  await until(async () => (await scene.types()).includes('MessageDelivered'), 'it was told', 30_000);
});
afterEach(async () => scene.end());

const env = (bin: string) => ({ OUT: out, PATH: `${bin}:${process.env['PATH'] ?? ''}` });
const said = (n: number): string => readFileSync(join(out, `said-${n}`), 'utf8');
const begun = async (n: number) => until(() => existsSync(join(out, `said-${n}`)), `process ${n} works`, 30_000);

/** Renames the file into place, because the program reads it as soon as it exists. */
function go(n: number, how: string): void {
  writeFileSync(join(out, 'draft'), how);
  renameSync(join(out, 'draft'), join(out, `go-${n}`));
}

/** Counts the message in the input of all processes. */
function timesHeard(): number {
  const all = readdirSync(out)
    .filter((name) => name.startsWith('said-'))
    .map((name) => readFileSync(join(out, name), 'utf8'));
  return all.join('').split(MESSAGE).length - 1;
}

async function finish(n: number): Promise<void> {
  go(n, `baton emit agent:signal '{"kind":"complete"}'`);
  expect(await scene.agent(id, 30_000)).toMatchObject({ status: 'done', start: n });
}

describe('a message to a client that cannot receive it before it stops', () => {
  it('starts its next process if it fails before that, and only that one', async () => {
    expect(timesHeard()).toBe(0);
    go(1, 'exit 1');
    await begun(2);
    expect(said(2)).toBe(`${MESSAGE}\n\nGo on, please.`);
    go(2, 'exit 1');
    await begun(3);
    expect(said(3)).toBe('Go on, please.');
    await finish(3);
    expect(timesHeard()).toBe(1);
  });

  inLongLane(() => {
    it('outlives its supervisor and the daemon', async () => {
      const { supervisor, process: client } = readRunning(agentFiles(scene.stateDir, id), 1) ?? {};
      await scene.stop();
      // In a sandbox the client ends with its supervisor.
      for (const name of [supervisor, client]) spawnSync('kill', ['-KILL', String(name?.split('/')[1])]);
      await scene.start(env(join(scene.scene.folder, 'bin')));
      await begun(2);
      expect(said(2)).toBe(`${MESSAGE}\n\nGo on, please.`);
      await finish(2);
      expect(timesHeard()).toBe(1);
    });
  });

  inLongLane(() => {
    it('also starts its next process if it arrives after the end of the turn', async () => {
      const failed = `echo '{"type":"turn.failed","error":{"message":"no"}}'; touch "$OUT/over"`;
      go(1, `${failed}; while [ ! -e "$OUT/leave" ]; do sleep 0.02; done; exit 1`);
      await until(() => existsSync(join(out, 'over')), 'its turn is over', 30_000);
      await scene.ask('agent_send', { id, text: 'Late.' });
      await until(() => readHeldMessages(agentFiles(scene.stateDir, id).held).length === 2, 'it is held', 30_000);
      writeFileSync(join(out, 'leave'), '');
      await begun(2);
      expect(said(2)).toBe(`${MESSAGE}\n\nLate.\n\nGo on, please.`);
      await finish(2);
    });
  });

  it('is not repeated if it was received at a stop', async () => {
    const stop = `printf '{"stop_hook_active":false}' | baton agent hook stop "$BATON_AGENT_ID"`;
    go(1, `${stop} > "$OUT/first"; ${stop} > "$OUT/second"; exit 1`);
    await begun(2);
    expect(JSON.parse(readFileSync(join(out, 'first'), 'utf8'))).toEqual({ decision: 'block', reason: MESSAGE });
    expect(readFileSync(join(out, 'second'), 'utf8')).not.toContain(MESSAGE);
    expect(said(2)).toBe('Go on, please.');
    await finish(2);
  });
});
