import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { until } from '../../test/processes/until.ts';
import type { Standing } from '../protocol/standing.ts';
import type { Control } from './contract.ts';
import { denyTool } from './hooks/budget-hold.ts';
import { Scene, type Supervised } from './scene.cases.ts';

const AT_WORK: Standing = { at: 1, has_signalled: false, is_owned: true, is_parked: false, missing: [] };
const HELD: Standing = { ...AT_WORK, is_parked: true, is_held: true };
const WAKE: Control = { kind: 'send', message_id: 'm1', text: 'Continue where you stopped.', wakes: true };

/** The standing that the daemon returns at first; the test pushes later ones. */
const asked = (standing: Standing) => ({ agent_standing: () => ({ ok: true as const, result: standing }) });

/** An agent that prints each message that it receives. */
const ECHO = { argv: ['/bin/sh', '-c', 'cat'], prompt: 'Work.' } as const;

let seq = 1;

async function stand(run: Supervised, says: Standing): Promise<void> {
  const standing = { ...says, at: (seq += 1) };
  expect(await run.control({ kind: 'standing', standing })).toEqual({ ok: true });
}

function heard({ files }: Supervised): string {
  return existsSync(files.log) ? readFileSync(files.log, 'utf8') : '';
}

async function callTool(run: Supervised): Promise<unknown> {
  return (await run.post('/hook/pre-tool-use', { tool_name: 'Bash' })).json();
}

describe('a tool call that is held for a budget', () => {
  it('continues when it may, without a message', async () => {
    await using scene = new Scene(asked(HELD));
    await scene.daemon.start();
    const run = await scene.start(ECHO);
    await until('it has begun', () => heard(run).includes('Work.'));
    await stand(run, HELD);
    const answer = callTool(run);
    await stand(run, AT_WORK);
    expect(await answer).toEqual({});
    expect(await run.control(WAKE)).toEqual({ ok: true });
    expect(await run.control({ kind: 'send', message_id: 'm2', text: 'Mind the gap.' })).toEqual({ ok: true });
    await until('it was told', () => heard(run).includes('Mind the gap.'));
    expect(heard(run)).not.toContain(WAKE.text);
  });

  it('does not continue by itself if its turn was ended, but needs a message', async () => {
    await using scene = new Scene(asked(HELD));
    await scene.daemon.start();
    const run = await scene.start(ECHO);
    await until('it has begun', () => heard(run).includes('Work.'));
    await stand(run, HELD);
    const answer = callTool(run);
    // The daemon's answer after the call was held for too long.
    await stand(run, { ...HELD, is_owned: false });
    expect(await answer).toEqual(denyTool('stream-json').answer);
    await stand(run, AT_WORK);
    expect(await run.control(WAKE)).toEqual({ ok: true });
    await until('it was told', () => heard(run).includes(WAKE.text));
  });

  it("is denied before the client's timeout", async () => {
    await using scene = new Scene(asked(HELD));
    await scene.daemon.start();
    const run = await scene.start({ ...ECHO, hold_ms: 100 });
    await stand(run, HELD);
    expect(await callTool(run)).toEqual(denyTool('stream-json').answer);
    expect(existsSync(run.files.exit(1))).toBe(false);
  });

  it('ends the process of Codex before the answer, since no answer ends its turn', async () => {
    await using scene = new Scene(asked(HELD));
    await scene.daemon.start();
    const run = await scene.start({ argv: ['/bin/sleep', '60'], output: 'codex', input: 'none', hold_ms: 100 });
    await stand(run, HELD);
    expect(await callTool(run)).toEqual(denyTool('codex').answer);
    await until('its end is on record', () => existsSync(run.files.exit(1)));
  });

  it('is denied at once if the tool is already running, and a message that raises the budget starts the next process', async () => {
    await using scene = new Scene(asked(HELD));
    await scene.daemon.start();
    const argv = ['/bin/sleep', '60'] as const;
    const run = await scene.start({ argv, output: 'acp', input: 'once', prompt: 'Work.' });
    await stand(run, HELD);
    const denied = await run.post('/hook/pre-tool-use', { is_running: true });
    expect(await denied.json()).toEqual(denyTool('acp').answer);
    await stand(run, AT_WORK);
    const raised = run.control({ kind: 'send', message_id: 'm1', text: 'Continue.' });
    await run.control({ kind: 'kill', reason: 'it leaves' });
    expect(await raised).toMatchObject({ ok: false });
    expect(JSON.parse(readFileSync(run.files.held, 'utf8'))).toEqual([{ id: 'm1', text: 'Continue.' }]);
  });

  it('does not wait for a daemon that is away', async () => {
    await using scene = new Scene(asked(HELD));
    const run = await scene.start(ECHO);
    expect(await callTool(run)).toEqual({});
    // The daemon returns a moment later and pushes the standing itself.
    await scene.daemon.start();
    expect(await callTool(run)).toEqual({});
  });
});
