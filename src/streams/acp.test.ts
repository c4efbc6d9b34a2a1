import { describe, expect, it } from 'vitest';
import { type AcpLine, parseAcpLine } from './acp.ts';
import { ReadableLog } from './readable/readable-log.ts';

const update = (fields: object): AcpLine => ({ type: 'update', update: { ...fields } });
const says = (text: string): AcpLine =>
  update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
const call = (fields: object): AcpLine => update({ sessionUpdate: 'tool_call', toolCallId: 'a', ...fields });
const changes = (fields: object): AcpLine => update({ sessionUpdate: 'tool_call_update', toolCallId: 'a', ...fields });
const events = (line: AcpLine) => parseAcpLine(JSON.stringify(line));
const SESSION = { type: 'session', session_id: 's-1', agent: 'x', version: '1.2', model: 'large' } as const;
const USED = { input: 10, output: 5, cacheRead: 2, cacheWrite: 0, costMillicents: null };

function readable(...lines: readonly AcpLine[]): string[] {
  const log = new ReadableLog('acp', { clean: (line) => line });
  return [...lines.flatMap((line) => log.push(JSON.stringify(line))), ...log.end()].map(({ text }) => text);
}

describe('the events of an ACP agent', () => {
  it('name a conversation only if the agent can load it', () => {
    expect(events({ ...SESSION, resumable: true })).toEqual([
      { kind: 'conversation', id: 's-1' },
      { kind: 'model', model: 'large' },
    ]);
    expect(events({ ...SESSION, resumable: false })).toEqual([{ kind: 'model', model: 'large' }]);
  });

  it('are words, tools, usage, errors and the end', () => {
    expect(events(says('Done.\n'))).toEqual([{ kind: 'words', text: 'Done.\n' }]);
    expect(events(call({ title: 'Run it' }))).toEqual([{ kind: 'tool-started', id: 'a', tool: 'Run it' }]);
    expect(events(changes({ status: 'failed' }))).toEqual([{ kind: 'tool-ended', id: 'a', failed: true }]);
    expect(events(call({ title: 'x', status: 'completed' })).map(({ kind }) => kind)).toEqual([
      'tool-started',
      'tool-ended',
    ]);
    expect(events({ type: 'usage', of: 'turn', usage: USED })).toEqual([{ kind: 'usage', of: 'turn', usage: USED }]);
    expect(events({ type: 'end', failed: true })).toEqual([{ kind: 'turn-ended', failed: true }]);
  });

  it('are none for thoughts, prompts, plans and lines that are not of the driver', () => {
    const thought = { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'apm2_agent_exit' } };
    expect(events(update(thought))).toEqual([]);
    expect(events({ type: 'prompt', text: 'x' })).toEqual([]);
    expect(parseAcpLine('a warning')).toEqual([]);
    expect(parseAcpLine('{"type":"error","error":"made_up"}')).toMatchObject([{ kind: 'error', error: null }]);
    expect(parseAcpLine('{"type":"usage","of":"all","usage":{"input":"many"}}')).toMatchObject([
      { of: 'turn', usage: { input: 0 } },
    ]);
  });
});

describe('the log of an ACP agent', () => {
  it('reads like that of other clients', () => {
    const diff = { type: 'diff', path: 'src/a.ts', oldText: 'one\n', newText: 'one\ntwo\n' };
    expect(
      readable(
        { ...SESSION, resumable: true },
        { type: 'prompt', text: 'Do the task.' },
        says('I look'),
        says(' first.\n'),
        update({ sessionUpdate: 'plan', entries: [{ content: 'Look', status: 'completed' }, { content: 'Edit' }] }),
        call({ title: 'Edit a.ts', kind: 'edit', content: [diff] }),
        changes({ status: 'completed', content: [diff] }),
        { type: 'usage', of: 'turn', usage: USED },
        { type: 'prompt', text: 'You must signal.' },
        { type: 'end', failed: false },
      ),
    ).toEqual([
      '─ large, conversation s-1',
      '> Do the task.',
      'I look first.',
      '· plan:',
      '  ✓ Look',
      '  · Edit',
      '▸ Edit  src/a.ts  +1 -0',
      '─ used: 10 tokens in, 5 out, 2 cached',
      '> You must signal.',
      '─ turn ended',
    ]);
  });

  it('shows a call with its title, and again when the agent names its file or command', () => {
    expect(
      readable(
        call({ title: 'Shell', kind: 'execute', rawInput: {} }),
        changes({ rawInput: { command: 'npm test' } }),
        changes({ status: 'failed', content: [{ type: 'content', content: { type: 'text', text: '1 failed' } }] }),
      ),
    ).toEqual(['▸ Bash  Shell', '▸ Bash  npm test', '  ✗ 1 failed']);
  });

  it('shows the sender of each request, and errors', () => {
    expect(
      readable(
        { type: 'permission', tool: 'Bash', what: '{"command":"rm x"}', outcome: 'asked' },
        { type: 'permission', tool: 'Bash', what: '{"command":"rm x"}', outcome: 'denied' },
        { type: 'error', error: 'rate_limited', message: 'too many', reset_at: null, is_retrying: false },
        { type: 'end', failed: true },
      ),
    ).toEqual([
      '! needs permission: Bash  {"command":"rm x"}',
      '✗ denied: Bash  {"command":"rm x"}',
      '✗ rate_limited: too many',
      '✗ turn failed',
    ]);
  });
});
