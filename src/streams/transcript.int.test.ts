import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { STREAMS } from './reader.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'baton-records-'));
});
afterEach(() => rmSync(home, { recursive: true }));

const SINCE = '2026-01-01T12:00:00.000Z';
const EARLIER = '2026-01-01T11:59:59.999Z';
const LATER = '2026-01-01T12:00:01.000Z';

function write(path: string, lines: readonly object[]): string {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return file;
}

const used = { input: 100, output: 7, cacheRead: 20, cacheWrite: 3, costMillicents: null };

describe('the usage in a terminal', () => {
  it('is in the messages of Claude Code since then, each counted once, those of subagents among them', () => {
    const usage = { input_tokens: 100, output_tokens: 7, cache_read_input_tokens: 20, cache_creation_input_tokens: 3 };
    const line = (id: string, timestamp: string) => ({ type: 'assistant', timestamp, message: { id, usage } });
    write('.claude/projects/-work/c1.jsonl', [
      { type: 'user', timestamp: LATER, message: { content: 'Go.' } },
      line('m1', EARLIER),
      line('m2', LATER),
      line('m2', LATER),
    ]);
    write('.claude/projects/-work/c1/subagents/a.jsonl', [line('m3', LATER)]);
    write('.claude/projects/-work/c2.jsonl', [line('m4', LATER)]);
    const said = STREAMS['stream-json'].readTranscript({
      conversation: 'c1',
      since: SINCE,
      folder: join(home, '.claude'),
    });
    const twice = { input: 200, output: 14, cacheRead: 40, cacheWrite: 6, costMillicents: null };
    expect(said).toEqual({ kind: 'usage', of: 'turn', usage: twice });
  });

  it('is the count of the whole conversation in the record of Codex', () => {
    const total = { input_tokens: 123, cached_input_tokens: 20, cache_write_input_tokens: 3, output_tokens: 7 };
    const count = (usage: object) => ({ type: 'event_msg', payload: { type: 'token_count', info: usage } });
    write('.codex/sessions/2026/01/01/rollout-2026-01-01T12-00-00-c1.jsonl', [
      count({ total_token_usage: { ...total, output_tokens: 1 } }),
      count({ total_token_usage: total }),
    ]);
    const said = STREAMS.codex.readTranscript({ conversation: 'c1', since: SINCE, folder: join(home, '.codex') });
    expect(said).toEqual({ kind: 'usage', of: 'conversation', usage: used });
  });

  it('is in the messages of Gemini CLI since then; the last report of each counts', () => {
    const line = (id: string, timestamp: string, tokens?: object) => ({ id, type: 'gemini', timestamp, tokens });
    write('.gemini/tmp/p/chats/session-2026-01-01T12-00-12345678.jsonl', [
      { sessionId: '12345678-aaaa', kind: 'main' },
      line('m1', EARLIER, { input: 1, output: 1, cached: 0 }),
      line('m2', LATER),
      line('m2', LATER, { input: 120, output: 7, cached: 20 }),
    ]);
    const said = STREAMS.gemini.readTranscript({
      conversation: '12345678-aaaa',
      since: SINCE,
      folder: join(home, '.gemini'),
    });
    expect(said).toEqual({ kind: 'usage', of: 'turn', usage: { ...used, cacheWrite: 0 } });
  });

  it.each(['stream-json', 'codex', 'gemini'] as const)('is unknown without a record: %s', (client) => {
    const env = { HOME: home, GEMINI_CLI_HOME: home };
    expect(
      STREAMS[client].readTranscript({ conversation: 'c1', since: SINCE, folder: STREAMS[client].recordsIn(env) }),
    ).toBeUndefined();
  });
});

describe('an unnamed conversation', () => {
  const RECORDS = {
    'stream-json': (id: string, cwd: string) => write(`.claude/projects/-x/${id}.jsonl`, [{ type: 'mode' }, { cwd }]),
    codex: (id: string, cwd: string) =>
      write(`.codex/sessions/2026/01/01/rollout-x-${id}.jsonl`, [{ type: 'session_meta', payload: { id, cwd } }]),
    gemini: (id: string) => write(`.gemini/tmp/p/chats/session-${id}.jsonl`, [{ sessionId: id }]),
  };

  it.each(['stream-json', 'codex', 'gemini'] as const)('is the one written there since then: %s', (client) => {
    const find = () => {
      const env = { HOME: home, GEMINI_CLI_HOME: home };
      return STREAMS[client].findConversation({
        since: Date.parse(SINCE),
        cwd: '/work',
        folder: STREAMS[client].recordsIn(env),
      });
    };
    expect(find()).toBeNull();
    utimesSync(RECORDS[client]('c0', '/work'), new Date(EARLIER), new Date(EARLIER));
    expect(find()).toBeNull();
    RECORDS[client]('c1', '/work');
    if (client !== 'gemini') RECORDS[client]('c2', '/elsewhere');
    expect(find()).toBe('c1');
    RECORDS[client]('c3', '/work');
    expect(find()).toBeNull();
  });
});
