import { describe, expect, it } from 'vitest';
import type { Fields } from '../../../protocol/shape/read-unknown.ts';
import type { AcpLine } from '../../../streams/acp.ts';
import { shortenUpdate, UpdateLog } from './updates.ts';

function open() {
  const lines: AcpLine[] = [];
  let now = 0;
  const log = new UpdateLog(
    (line) => void lines.push(line),
    () => now,
  );
  return {
    log,
    lines,
    says: (text: string) => log.onUpdate({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }),
    thinks: (text: string) => log.onUpdate({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } }),
    after: (ms: number) => void (now += ms),
  };
}

function texts(lines: readonly AcpLine[]): string[] {
  return lines.flatMap((line) => {
    if (line.type !== 'update') return [];
    const content = line.update['content'];
    return typeof content === 'object' && content !== null && 'text' in content ? [String(content.text)] : [];
  });
}

const CALL = { sessionUpdate: 'tool_call', toolCallId: 'a', title: 'Run it', kind: 'execute', status: 'pending' };
const UPDATE = { sessionUpdate: 'tool_call_update', toolCallId: 'a' };

describe('what an agent reports', () => {
  it('is printed as one text if it arrives word by word', () => {
    const { log, lines, says } = open();
    for (const word of ['One ', 'two ', 'three.']) says(word);
    expect(lines).toEqual([]);
    log.flush();
    expect(texts(lines)).toEqual(['One two three.\n']);
    expect(log.lastWords).toBe('One two three.');
  });

  it('is printed line by line during a long text', () => {
    const { lines, says, after } = open();
    says('first');
    after(1000);
    says(' line\nsecond');
    expect(texts(lines)).toEqual(['first line\n']);
  });

  it('keeps thoughts and text apart', () => {
    const { log, lines, says, thinks } = open();
    thinks('Hm.');
    says('Done.');
    log.flush();
    expect(texts(lines)).toEqual(['Hm.\n', 'Done.\n']);
    expect(log.lastWords).toBe('Done.');
  });

  it('has a last message only after the last tool call', () => {
    const { log, says } = open();
    says('{"protocol":"apm2_agent_exit"}');
    log.onUpdate(CALL);
    expect(log.lastWords).toBe('');
  });

  it('prints a tool call when it begins and when it ends, not while its output grows', () => {
    const { log, lines } = open();
    expect(log.onUpdate(CALL)).toBe(true);
    for (const text of ['1', '1\n2', '1\n2\n3'])
      log.onUpdate({
        ...UPDATE,
        status: 'in_progress',
        content: [{ type: 'content', content: { type: 'text', text } }],
      });
    expect(log.onUpdate({ ...UPDATE, status: 'completed', rawOutput: 'all' })).toBe(false);
    log.onUpdate({ ...UPDATE, status: 'completed', rawOutput: 'all' });
    expect(lines.map((line) => (line.type === 'update' ? line.update['sessionUpdate'] : line.type))).toEqual([
      'tool_call',
      'tool_call_update',
    ]);
  });

  it('prints what an update adds about the call', () => {
    const { log, lines } = open();
    log.onUpdate({ ...CALL, rawInput: {} });
    log.onUpdate({ ...UPDATE, rawInput: { command: 'npm test' } });
    expect(lines.at(-1)).toMatchObject({ update: { rawInput: { command: 'npm test' } } });
  });

  it('starts a call that only updates report', () => {
    const { log, lines } = open();
    expect(log.onUpdate({ ...UPDATE, title: 'Late' })).toBe(true);
    expect(lines).toMatchObject([{ update: { sessionUpdate: 'tool_call', title: 'Late' } }]);
  });

  it('starts another call if an id is reused after its end', () => {
    const { log, lines } = open();
    for (const title of ['One', 'Two']) {
      expect(log.onUpdate({ ...CALL, title })).toBe(true);
      log.onUpdate({ ...UPDATE, status: 'completed' });
      log.onUpdate({ ...UPDATE, status: 'completed' });
    }
    expect(lines.map((line) => (line.type === 'update' ? line.update['sessionUpdate'] : line.type))).toEqual([
      'tool_call',
      'tool_call_update',
      'tool_call',
      'tool_call_update',
    ]);
  });

  it('ends open calls with the turn', () => {
    const { log, lines } = open();
    log.onUpdate(CALL);
    log.onUpdate({ ...CALL, toolCallId: 'b' });
    log.onUpdate({ ...UPDATE, status: 'completed' });
    log.onTurnEnd();
    log.onTurnEnd();
    expect(lines).toHaveLength(4);
    expect(lines.at(-1)).toMatchObject({ update: { toolCallId: 'b', status: 'failed' } });
  });

  it('shows from time to time that the agent is active', () => {
    const { log, lines, after } = open();
    log.onUpdate(CALL);
    for (let second = 0; second < 12; second += 1) {
      after(1000);
      log.onUpdate({ ...UPDATE, status: 'in_progress' });
    }
    expect(lines.filter(({ type }) => type === 'activity')).toHaveLength(2);
  });

  it('bounds what it keeps under a flood of updates', () => {
    const { log, lines, says } = open();
    for (let n = 0; n < 10_000; n += 1) says('x'.repeat(100));
    expect(log.lastWords.length).toBeLessThanOrEqual(131_072);
    expect(lines.every((line) => JSON.stringify(line).length < 10_000)).toBe(true);
    says('y'.repeat(5_000_000));
    log.flush();
    expect(lines.every((line) => JSON.stringify(line).length < 40_000)).toBe(true);
    expect(texts(lines).join('').replaceAll('\n', '').length).toBe(6_000_000);
  });
});

describe('a long update', () => {
  it('is cut in its texts, its lists and its depth', () => {
    const deep: Fields = {
      a: { a: { a: { a: { a: { a: { a: { a: { a: { a: { a: { a: { a: { a: 1 } } } } } } } } } } } } },
    };
    const update = shortenUpdate({ text: 'x'.repeat(1_000_000), list: Array.from({ length: 10_000 }, () => 1), deep });
    expect(JSON.stringify(update).length).toBeLessThan(40_000);
    expect(update['text']).toContain('967232 characters were cut here');
  });

  it('keeps only its own fields if it is still too long', () => {
    const texts = Array.from({ length: 100 }, () => ({ a: 'x'.repeat(30_000), b: 'y'.repeat(30_000) }));
    const update = shortenUpdate({ ...CALL, rawInput: texts });
    expect(update).toEqual(CALL);
  });
});
