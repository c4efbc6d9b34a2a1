import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ClientRecord } from './client-record.ts';
import type { RecordHint } from './client-stream.ts';
import { FollowedFile } from './file-lines.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-record-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const SINCE = '2026-01-01T12:00:00.000Z';
const LATER = '2026-01-01T12:00:01.000Z';

function add(path: string, ...lines: readonly object[]): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return file;
}

const hint = (path: string, conversation: string, toolUse?: string): RecordHint => ({ path, conversation, toolUse });

describe('the record of Codex', () => {
  const total = (input: number) => ({
    total_token_usage: { input_tokens: input, cached_input_tokens: 20, output_tokens: 7 },
    last_token_usage: { input_tokens: 100, cached_input_tokens: 20, output_tokens: 7 },
  });
  const count = (input: number) => ({ payload: { type: 'token_count', info: total(input) } });
  const call = (call_id: string) => ({ type: 'response_item', payload: { type: 'function_call', call_id } });

  it('counts a request after its tools: before a tool the request is missing', () => {
    const path = add('rollout-c1.jsonl', { type: 'turn_context', payload: { model: 'gpt-x' } }, call('t1'));
    const record = new ClientRecord('codex', SINCE);
    expect(record.read(hint(path, 'c1', 't1'))).toEqual({ events: [], isUncounted: true, model: 'gpt-x' });
    add('rollout-c1.jsonl', count(100), call('t2'));
    const next = record.read(hint(path, 'c1', 't2'));
    const request = { input: 80, output: 7, cacheRead: 20, cacheWrite: 0, costMillicents: null };
    expect(next).toMatchObject({ isUncounted: true, events: [{ of: 'conversation', id: 'c1', request }] });
    // A version that counts before the tool call has no uncounted request.
    add('rollout-c1.jsonl', call('t3'), count(200));
    expect(record.read(hint(path, 'c1', 't3'))).toMatchObject({ isUncounted: false });
    expect(record.read(hint(path, 'c1')).events).toEqual([]);
  });
});

describe('the record of Gemini CLI', () => {
  const line = (id: string, timestamp: string) => ({
    id,
    type: 'gemini',
    timestamp,
    model: 'gemini-x',
    tokens: { input: 100, output: 7, cached: 20, thoughts: 5 },
  });

  it('has each message since the process began, those of subagents among them', () => {
    const path = add('chats/session-c1.jsonl', line('old', '2026-01-01T11:00:00.000Z'), line('m1', LATER));
    add('chats/conversation-1/sub.jsonl', line('m2', LATER));
    const { events, model, isUncounted } = new ClientRecord('gemini', SINCE).read(hint(path, 'conversation-1'));
    expect({ model, isUncounted }).toEqual({ model: 'gemini-x', isUncounted: false });
    const usage = { input: 80, output: 12, cacheRead: 20, cacheWrite: 0, costMillicents: null };
    expect(events).toEqual(['m1', 'm2'].map((id) => ({ kind: 'usage', of: 'message', id, usage })));
  });

  it('is searched in two levels of folders, because a hook may name any path and a walk takes long', () => {
    const path = add('chats/session-c1.jsonl', line('m1', LATER));
    add('chats/c1/a/m2.jsonl', line('m2', LATER));
    add('chats/c1/a/b/m3.jsonl', line('m3', LATER));
    expect(new ClientRecord('gemini', SINCE).read(hint(path, 'c1')).events).toMatchObject([{ id: 'm1' }, { id: 'm2' }]);
    const startMs = performance.now();
    new ClientRecord('stream-json', SINCE).read(hint('/.jsonl', 'c1'));
    expect(performance.now() - startMs).toBeLessThan(2000);
  });

  it('of another conversation cannot be reached through its name', () => {
    const path = add('chats/session-c1.jsonl', line('m1', LATER));
    add('other/x.jsonl', line('m2', LATER));
    expect(new ClientRecord('gemini', SINCE).read(hint(path, '../other')).events).toHaveLength(1);
  });
});

describe('the record of Claude Code', () => {
  it('updates messages that the stream has reported, including those of subagents', () => {
    const line = (id: string, output_tokens: number) => ({
      type: 'assistant',
      message: { id, usage: { input_tokens: 3, output_tokens } },
    });
    const path = add('c1.jsonl', line('m1', 70));
    add('c1/subagents/a.jsonl', line('m2', 8));
    const { events } = new ClientRecord('stream-json', SINCE).read(hint(path, 'c1', 't1'));
    expect(events.map(({ id, isUpdate, usage }) => [id, isUpdate, usage.output])).toEqual([
      ['m1', true, 70],
      ['m2', true, 8],
    ]);
  });
});

describe('a file that grows', () => {
  it('returns each complete line once, and leaves an incomplete line for the next call', () => {
    const path = join(folder, 'f.jsonl');
    const file = new FollowedFile(path);
    expect(file.readNew()).toEqual([]);
    writeFileSync(path, 'a\nb');
    expect(file.readNew()).toEqual(['a']);
    appendFileSync(path, 'c\nd\n');
    expect(file.readNew()).toEqual(['bc', 'd']);
    expect(file.readNew()).toEqual([]);
  });

  it('is read from its end if it is long, and from its start if it was rewritten', () => {
    const path = join(folder, 'f.jsonl');
    const file = new FollowedFile(path, 7);
    writeFileSync(path, 'long ago\nx\nlast\n');
    expect(file.readNew()).toEqual(['last']);
    writeFileSync(path, 'new\n');
    expect(file.readNew()).toEqual(['new']);
  });

  it('that is no file has no lines', () => {
    expect(new FollowedFile('/dev/zero').readNew()).toEqual([]);
    expect(new FollowedFile(folder).readNew()).toEqual([]);
  });
});
