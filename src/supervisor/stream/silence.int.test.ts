import { describe, expect, it } from 'vitest';
import { until } from '../../../test/processes/until.ts';
import type { Standing } from '../../protocol/standing.ts';
import { denyTool } from '../hooks/budget-hold.ts';
import { Scene } from '../scene.cases.ts';

const MESSAGE = '{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"x"}]}}';
const TOOL = '{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Bash"}]}}';
const RESULT = '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1"}]}}';
const END = '{"type":"result","is_error":false}';
const WORKS: Standing = { has_signalled: false, is_owned: true, is_parked: false, missing: [] };

/** Prints each line that it is sent, as a client with a stream would. */
const ECHO = { argv: ['/bin/sh', '-c', 'while read -r line; do printf "%s\\n" "$line"; done'] } as const;
const STREAM = { ...ECHO, output: 'stream-json', input: 'text', prompt: MESSAGE } as const;

describe('silence', () => {
  it('in a turn is reported, and that the agent became active again', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const run = await scene.start({ ...STREAM, silence_ms: 200, tool_ms: 60_000 });
    await until('the silence is reported', () => scene.daemon.reports('silent').length > 0);
    expect(scene.daemon.reports('silent')[0]?.input).toMatchObject({ start: 1, what: 'turn', tool: null });
    expect(scene.daemon.reports('heard')).toEqual([]);
    await run.control({ kind: 'send', message_id: 'm2', text: MESSAGE });
    await until('it is heard again', () => scene.daemon.reports('heard').length > 0);
    await run.control({ kind: 'kill', reason: '' });
  });

  it('is not measured during a tool call, which has a limit of its own', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const run = await scene.start({ ...STREAM, prompt: TOOL, silence_ms: 100, tool_ms: 600 });
    await until('the tool call is reported', () => scene.daemon.reports('silent').length > 0);
    expect(scene.daemon.reports('silent')[0]?.input).toMatchObject({ what: 'tool', tool: 'Bash' });
    await run.control({ kind: 'send', message_id: 'm2', text: `${RESULT}\n${END}` });
    await until('it is over', () => scene.daemon.reports('heard').length > 0);
    await run.control({ kind: 'kill', reason: '' });
  });

  it('does not count while the agent is parked, and is settled before its next stop is judged', async () => {
    let standing = WORKS;
    await using scene = new Scene({
      agent_report: ({ input }) => {
        if (input['kind'] === 'silent') standing = { ...WORKS, is_parked: true };
        if (input['kind'] === 'heard') standing = WORKS;
        return { ok: true, result: { standing } };
      },
      agent_standing: () => ({ ok: true, result: standing }),
    });
    await scene.daemon.start();
    const run = await scene.start({ ...STREAM, silence_ms: 100, tool_ms: 60_000, report_ms: 40 });
    await until('the silence is reported', () => scene.daemon.reports('silent').length > 0);
    const asked = scene.daemon.of('agent_standing').length;
    await until('it is asked about again', () => scene.daemon.of('agent_standing').length > asked + 10);
    expect(scene.daemon.reports('silent')).toHaveLength(1);
    expect(await run.stop()).toContain('You must explicitly signal completion');
    expect(scene.daemon.reports('heard')).toHaveLength(1);
    await run.control({ kind: 'kill', reason: '' });
  });

  it('is settled before the next tool: a budget that was used up meanwhile holds it', async () => {
    let standing = WORKS;
    await using scene = new Scene({
      agent_report: ({ input }) => {
        if (input['kind'] === 'silent') standing = { ...WORKS, is_parked: true };
        if (input['kind'] === 'heard') standing = { ...WORKS, is_parked: true, is_held: true };
        return { ok: true, result: { standing } };
      },
      agent_standing: () => ({ ok: true, result: standing }),
    });
    await scene.daemon.start();
    const run = await scene.start({ ...STREAM, silence_ms: 100, tool_ms: 60_000, hold_ms: 50 });
    await until('the silence is reported', () => scene.daemon.reports('silent').length > 0);
    const answer: unknown = await (await run.post('/hook/pre-tool-use', { tool_name: 'Bash' })).json();
    expect(answer).toEqual(denyTool('stream-json').answer);
    await run.control({ kind: 'kill', reason: '' });
  });

  it('of a plain command counts from its first hook to its stop', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const run = await scene.start({ ...ECHO, prompt: 'begin', silence_ms: 60, tool_ms: 60_000, report_ms: 30 });
    await until('it has run for a while', () => scene.daemon.of('agent_standing').length > 10);
    expect(scene.daemon.reports('silent')).toEqual([]);
    await run.post('/hook/post-tool-use', {});
    await until('the silence is reported', () => scene.daemon.reports('silent').length > 0);
    await run.control({ kind: 'kill', reason: '' });
  });
});
