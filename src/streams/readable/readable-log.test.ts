import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StreamFormat } from '../../protocol/run-plan.ts';
import { recorded, STRANGE_LINES } from '../fixture.cases.ts';
import { ReadableLog } from './readable-log.ts';

const CLIENTS: readonly (readonly [client: string, format: StreamFormat])[] = [
  ['claude', 'stream-json'],
  ['codex', 'codex'],
  ['gemini', 'gemini'],
];
const FIXTURES = join(import.meta.dirname, '../../../test/fixtures');

function render(format: StreamFormat | 'text', lines: readonly string[]): string {
  const log = new ReadableLog(format, { clean: (line) => line });
  const rendered = [...lines.flatMap((line) => log.push(line)), ...log.end()];
  return rendered.map(({ text }) => `${text}\n`).join('');
}

const claude = (...events: object[]): string[] => render('stream-json', events.map(toJson)).trimEnd().split('\n');
const codex = (...events: object[]): string[] => render('codex', events.map(toJson)).trimEnd().split('\n');
const toJson = (event: object): string => JSON.stringify(event);
const say = (...content: object[]) => ({ type: 'assistant', message: { content } });
const tool = (name: string, input: object) => say({ type: 'tool_use', id: 't', name, input });
const result = (content: unknown, is_error = false) => ({
  type: 'user',
  message: { content: [{ type: 'tool_result', tool_use_id: 't', content, is_error }] },
});
const numbered = (count: number): string => Array.from({ length: count }, (_, i) => `line ${i + 1}`).join('\n');

describe('recorded streams', () => {
  it.each(CLIENTS)('renders those of %s', async (client, format) => {
    const names = readdirSync(join(FIXTURES, 'streams', client)).map((name) => name.replace('.jsonl', ''));
    const streams = names.filter((name) => !name.endsWith('.record')).toSorted();
    const all = streams.map((name) => `# ${name}\n${render(format, recorded(client, name))}`).join('\n');
    await expect(all).toMatchFileSnapshot(join(FIXTURES, 'readable', `${client}.txt`));
  });
});

describe('text', () => {
  it('is shown unchanged, line by line', () => {
    expect(claude(say({ type: 'text', text: 'First.\n\n  - a\n  - b\n' }))).toEqual(['First.', '', '  - a', '  - b']);
  });

  it('that comes in pieces is joined to whole lines', () => {
    const pieces = ['Now ', 'I\nam', ' done'].map((content) => ({
      type: 'message',
      role: 'assistant',
      content,
      delta: true,
    }));
    const log = new ReadableLog('gemini', { clean: (line) => line });
    expect(pieces.map((piece) => log.push(toJson(piece)).map(({ text }) => text))).toEqual([[], ['Now I'], []]);
    const next = log.push(toJson({ type: 'tool_use', tool_name: 'read_file', parameters: { file_path: 'a' } }));
    expect(next.map(({ text }) => text)).toEqual(['am done', '▸ read_file  a']);
  });

  it('of thinking is folded', () => {
    expect(claude(say({ type: 'thinking', thinking: numbered(9) }))).toEqual([
      '· line 1',
      '  line 2',
      '  line 3',
      '  … 6 more lines',
    ]);
    expect(codex({ type: 'item.completed', item: { type: 'reasoning', text: 'Hm.' } })).toEqual(['· Hm.']);
  });

  it('of a subagent is set apart', () => {
    expect(
      claude(
        tool('Task', { description: 'Find the parser', subagent_type: 'Explore', prompt: 'Look' }),
        { ...say({ type: 'text', text: 'one\ntwo' }), parent_tool_use_id: 't' },
        { ...tool('Grep', { pattern: 'parse' }), parent_tool_use_id: 't' },
        result([{ type: 'text', text: 'It is in src.' }]),
      ),
    ).toEqual(['▸ Task  Find the parser', '│ one', '│ two', '│ ▸ Grep  parse', '    It is in src.']);
  });
});

describe('a tool call', () => {
  it.each([
    ['Bash', { command: 'npm test', description: 'Run the tests' }, '▸ Bash  npm test'],
    ['Bash', { command: 'cat <<EOF\na\nEOF' }, '▸ Bash  cat <<EOF … 2 more lines'],
    ['Edit', { file_path: 'a.ts', old_string: 'x\na\ny', new_string: 'x\nb\nc\ny' }, '▸ Edit  a.ts  +2 -1'],
    ['Edit', { file_path: 'a.ts', old_string: 'a', new_string: '' }, '▸ Edit  a.ts  +0 -1'],
    ['Write', { file_path: 'b.ts', content: 'one\ntwo\n' }, '▸ Write  b.ts  +2 -0'],
    [
      'MultiEdit',
      {
        file_path: 'c.ts',
        edits: [
          { old_string: 'a', new_string: 'b' },
          { old_string: '', new_string: 'c\nd' },
        ],
      },
      '▸ MultiEdit  c.ts  +3 -1',
    ],
    ['mcp__baton__task_get', { task_id: 'T1' }, '▸ baton/task_get  T1'],
    ['Custom', { depth: 3 }, '▸ Custom  {"depth":3}'],
    ['Custom', {}, '▸ Custom'],
  ])('%s is one line', (name, input, line) => {
    expect(claude(tool(name, input))).toEqual([line]);
  });

  it('of Codex is shown once, also if only its end is reported', () => {
    const change = {
      type: 'file_change',
      changes: [
        { path: 'a.ts', kind: 'update' },
        { path: 'b.ts', kind: 'add' },
      ],
    };
    const done = { id: 'i1', ...change, status: 'completed' };
    expect(codex({ type: 'item.completed', item: done })).toEqual(['▸ update  a.ts', '▸ add  b.ts']);
    expect(codex({ type: 'item.started', item: done }, { type: 'item.completed', item: done })).toHaveLength(2);
  });

  it('of Codex names its plan and its search', () => {
    const items = [
      { text: 'read', completed: true },
      { text: 'fix it', completed: false },
    ];
    expect(
      codex(
        { type: 'item.started', item: { id: 'p', type: 'todo_list', items } },
        { type: 'item.completed', item: { id: 'w', type: 'web_search', query: 'node streams' } },
      ),
    ).toEqual(['▸ plan  1/2 fix it', '▸ web_search  node streams']);
  });
});

describe('a result', () => {
  it('is folded to its first lines', () => {
    expect(claude(result(numbered(125)))).toEqual([
      ...numbered(5)
        .split('\n')
        .map((line) => `    ${line}`),
      '    … 120 more lines',
    ]);
    expect(claude(result(numbered(6)))).toHaveLength(6);
    expect(claude(result('')).join('')).toBe('');
  });

  it('that failed also has its last lines', () => {
    expect(claude(result(numbered(40), true))).toEqual([
      '  ✗ line 1',
      ...[2, 3, 4, 5].map((n) => `    line ${n}`),
      '    … 30 more lines',
      ...[36, 37, 38, 39, 40].map((n) => `    line ${n}`),
    ]);
    expect(claude(result('', true))).toEqual(['  ✗ failed']);
  });

  it('with a long line is cut', () => {
    expect(claude(result('x'.repeat(1000)))).toEqual([`    ${'x'.repeat(400)}… 600 more characters`]);
    expect(claude(result(`${'x'.repeat(399)}😀`))).toEqual([`    ${'x'.repeat(399)}… 2 more characters`]);
  });
});

describe('everything else', () => {
  it('keeps lines that it does not know, and plain output', () => {
    const lines = [...STRANGE_LINES.filter((line) => line !== ''), 'warning: on standard error'];
    for (const [, format] of CLIENTS) expect(render(format, lines).trimEnd().split('\n')).toEqual(lines);
    expect(render('text', ['{"type":"assistant"}', 'plain'])).toBe('{"type":"assistant"}\nplain\n');
  });

  it('cuts a part of a line, which a cut log begins with', () => {
    const part = `${'x'.repeat(100_000)}"}`;
    expect(render('codex', [part])).toBe(`${'x'.repeat(400)}… 99602 more characters\n`);
    expect(render('text', [part])).toBe(`${part}\n`);
  });

  it('names model and conversation once, not in each turn', () => {
    const init = { type: 'system', subtype: 'init', session_id: 'c1', model: 'm' };
    const end = { type: 'result', subtype: 'success', is_error: false };
    expect(claude(init, end, init, end)).toEqual(['─ m, conversation c1', '─ turn ended', '─ turn ended']);
  });

  it('asks for permission', () => {
    const request = { subtype: 'can_use_tool', tool_name: 'Bash', input: { command: 'rm -r .' } };
    expect(claude({ type: 'control_request', request })).toEqual(['! needs permission: Bash  {"command":"rm -r ."}']);
  });
});

it('passes every line through `clean` before it is cut', () => {
  const secret = 'SECRET';
  const words = fc.constantFrom(secret, `x\n${secret}`, 'a'.repeat(398) + secret, `\r${secret}`, '\n\n', 'plain');
  const block = fc.record({
    type: fc.constantFrom('text', 'thinking', 'tool_use', 'tool_result', 'image'),
    text: words,
    thinking: words,
    name: words,
    content: words,
    is_error: fc.boolean(),
    input: fc.record({ command: words, file_path: words, content: words }, { requiredKeys: [] }),
  });
  const event = fc.record({
    type: fc.constantFrom(
      'assistant',
      'user',
      'system',
      'message',
      'tool_use',
      'tool_result',
      'item.completed',
      'error',
    ),
    subtype: fc.oneof(words, fc.constant('init')),
    session_id: words,
    model: words,
    role: fc.constantFrom('assistant', 'user'),
    delta: fc.boolean(),
    message: fc.oneof(words, fc.record({ content: fc.array(block, { maxLength: 3 }) })),
    content: words,
    tool_name: words,
    output: words,
    item: fc.record({
      type: fc.constantFrom('agent_message', 'command_execution', words),
      text: words,
      command: words,
    }),
  });
  fc.assert(
    fc.property(fc.constantFrom(...CLIENTS), fc.array(event, { maxLength: 8 }), ([, format], events) => {
      const log = new ReadableLog(format, { clean: (line) => line.replaceAll(secret, '*').replaceAll('\r', '') });
      const lines = [...events.flatMap((each) => log.push(toJson(each))), ...log.end()];
      for (const { text } of lines) expect(text).not.toMatch(/SECRET|SECRE$|[\r\n]/);
    }),
  );
});
