import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LogLines, type LogView, rawLogView, readableLogView } from './log-view.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const RUNS = ['claude', 'codex', 'gemini', 'scripted a.yaml', 'npm start'];

describe('lines', () => {
  it('are complete, even if characters and lines are split', () => {
    const lines = new LogLines();
    const whole = bytes('first\nsécond\nthird');
    expect(lines.push(whole.subarray(0, 8))).toEqual(['first']);
    expect(lines.push(whole.subarray(8))).toEqual(['sécond']);
    expect(lines.end()).toEqual(['third']);
    expect(lines.end()).toEqual([]);
  });

  it('are returned in parts if they never end', () => {
    const lines = new LogLines();
    expect(lines.push(bytes('x'.repeat(70_000)))).toEqual(['x'.repeat(70_000)]);
    expect(lines.end()).toEqual([]);
  });
});

it.each([
  ['\u001B[31mred\u001B[0m\r', 'red'],
  ['10 %\r50 %\r100 %', '100 %'],
  ['\u001B]0;title\u0007x', 'x'],
  ['bell\u0007 \u202E', 'bell\\u0007 \\u202e'],
  ['a\tb', 'a\tb'],
])('%j is shown as %j', (text, shown) => {
  expect(rawLogView().push(bytes(`${text}\n`))).toEqual([shown]);
  expect(readableLogView({ run: 'npm start' }, false).push(bytes(`${text}\n`))).toEqual([shown]);
});

describe('the log of a client', () => {
  const said = (text: string): string =>
    JSON.stringify({ type: 'assistant', message: { content: [{ type: 'text', text }] } });
  const view = (colors = false): LogView => readableLogView({ run: 'claude' }, colors);

  it('is text for people, also if a line is longer than a plain one may be', () => {
    const long = `${'x'.repeat(200_000)}\nthe end`;
    expect(view().push(bytes(`${said(long)}\n`))).toEqual(['x'.repeat(200_000), 'the end']);
    expect(rawLogView().push(bytes(`${said('Hi.')}\n`))).toEqual([said('Hi.')]);
  });

  it('has no colours, control characters or tokens of the agent', () => {
    const token = `s.eyJ${'a'.repeat(40)}.${'B1'.repeat(21)}`;
    const lines = view().push(bytes(`${said(`\u001B[31mred\u001B[0m \u0007 ${token}`)}\n`));
    expect(lines).toEqual(['red \\u0007 [redacted:baton-token]']);
  });

  it('has colours at a terminal, of Baton', () => {
    const call = {
      type: 'assistant',
      message: { content: [{ type: 'tool_use', name: 'Bash', input: { command: 'ls' } }] },
    };
    expect(view(true).push(bytes(`${JSON.stringify(call)}\n`))).toEqual(['\u001B[36m▸ Bash  ls\u001B[0m']);
  });
});

it('prints no control character, whatever the log contains', () => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array)),
    fc
      .record({
        type: fc.constantFrom('assistant', 'user', 'item.completed', 'message', 'error', 'system', 'result'),
        role: fc.constantFrom('assistant', 'user'),
        delta: fc.boolean(),
        content: fc.string({ unit: 'binary' }),
        message: fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.record({
            content: fc.array(
              fc.record({
                type: fc.constantFrom('text', 'tool_use', 'tool_result', 'thinking'),
                text: fc.string({ unit: 'binary' }),
                name: fc.string({ unit: 'binary' }),
                content: fc.string({ unit: 'binary' }),
                input: fc.dictionary(fc.constantFrom('command', 'x'), fc.string({ unit: 'binary' })),
              }),
              { maxLength: 3 },
            ),
          }),
        ),
        item: fc.record({ type: fc.constant('agent_message'), text: fc.string({ unit: 'binary' }) }),
      })
      .map((event) => Buffer.from(`${JSON.stringify(event)}\n`)),
  );
  fc.assert(
    fc.property(fc.constantFrom(...RUNS), fc.array(piece, { maxLength: 6 }), (run, pieces) => {
      for (const view of [readableLogView({ run }, false), rawLogView()]) {
        const lines = [...pieces.flatMap((each) => view.push(each)), ...view.end()];
        for (const line of lines) expect(line).not.toMatch(/[^\P{C}\t]/u);
      }
    }),
  );
});

it('takes linear time', () => {
  const MANY = 50_000;
  const hostile = [
    '\u001B[;',
    ';#',
    '\u001B]',
    '\r',
    '\n ',
    '\\n',
    ' ',
    '{"type":"message","role":"assistant","delta":true,"content":"x"}\n',
    's.eyJ',
  ];
  for (const each of hostile) {
    const lines = each.endsWith('}\n')
      ? each.repeat(MANY / 20)
      : `${JSON.stringify({ type: 'assistant', message: { content: [{ type: 'text', text: each.repeat(MANY) }] } })}\n${each.repeat(MANY)}x`;
    const whole = bytes(lines);
    for (const run of RUNS) {
      const started = performance.now();
      const view = readableLogView({ run }, false);
      for (let at = 0; at < whole.length; at += 65_536) view.push(whole.subarray(at, at + 65_536));
      view.end();
      expect([each, run, performance.now() - started < 3000]).toEqual([each, run, true]);
    }
  }
});
