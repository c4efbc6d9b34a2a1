import {
  appendFileSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentLogPart } from '../../../api/operations/agent-log.ts';
import { LogPartReader } from '../../../streams/readable/log-part.ts';
import { type LogSource, readLogPart } from './log-part.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-log-'));
  path = join(folder, 'output.log');
});
afterEach(() => rmSync(folder, { recursive: true }));

const source = (more: Partial<LogSource> = {}): LogSource => ({
  agentId: 'a1',
  path,
  format: 'text',
  isOver: true,
  ...more,
});

/** Follows a log like a page: each call starts where the last one ended. */
async function readForward(limit_bytes: number, of = source(), raw = false): Promise<string> {
  let text = '';
  for (let from = 0, file = ''; ;) {
    const part: AgentLogPart = await readLogPart(of, { from, file, limit_bytes, raw });
    expect(part.from).toBe(from);
    text += part.text;
    if (part.to === part.size) return text;
    expect(part.to).toBeGreaterThan(from);
    ({ to: from, file } = part);
  }
}

describe('a part of a log', () => {
  it('has the time at which something was last printed', async () => {
    expect(await readLogPart(source({ path: `${path}.none` }), {})).toMatchObject({ text: '', printed_at: null });
    writeFileSync(path, 'one\n');
    utimesSync(path, new Date(), new Date('2026-01-01T00:00:00.000Z'));
    expect(await readLogPart(source(), {})).toMatchObject({ printed_at: '2026-01-01T00:00:00.000Z' });
  });

  it('is its last lines, or what follows or precedes a position', async () => {
    writeFileSync(path, 'one\ntwo\nthree\nfour\n');
    const last = await readLogPart(source(), { to_lines: 2 });
    expect(last).toMatchObject({
      text: 'three\nfour\n',
      kinds: ['raw', 'raw'],
      from: 8,
      to: 19,
      size: 19,
      is_cut: false,
    });
    expect(await readLogPart(source(), { to: last.from, to_lines: 1 })).toMatchObject({
      text: 'two\n',
      from: 4,
      to: 8,
    });
    expect(await readLogPart(source(), { from: 4, limit_bytes: 5 })).toMatchObject({ text: 'two\n', from: 4, to: 8 });
    expect(await readLogPart(source(), { from: 5 })).toMatchObject({ text: 'three\nfour\n', from: 8 });
    expect(await readLogPart(source(), { from: 5, limit_bytes: 9 })).toMatchObject({
      text: 'three\n',
      from: 8,
      to: 14,
    });
    expect(await readLogPart(source(), { from: 19 })).toMatchObject({ text: '', from: 19, to: 19 });
  });

  it('is empty if there is no log yet', async () => {
    expect(await readLogPart(source({ isOver: false }), { from: 0 })).toMatchObject({
      text: '',
      size: 0,
      ended: false,
      file: '',
    });
  });

  it('has an incomplete line only if nothing more will be written', async () => {
    writeFileSync(path, 'one\ntw');
    expect(await readLogPart(source({ isOver: false }), { from: 0 })).toMatchObject({
      text: 'one\n',
      to: 4,
      ended: false,
    });
    expect(await readLogPart(source({ isOver: false }), {})).toMatchObject({ text: 'one\n', to: 4 });
    expect(await readLogPart(source(), { from: 4 })).toMatchObject({ text: 'tw\n', to: 6, ended: true });
  });

  it('is safe to show, or with `raw` unchanged except for tokens', async () => {
    const token = `s.eyJ${'a'.repeat(40)}.${'B1'.repeat(21)}`;
    writeFileSync(path, `\u001B[31mred\u001B[0m \u202E${token}\n`);
    expect((await readLogPart(source(), {})).text).toBe('red \\u202e[redacted:baton-token]\n');
    const raw = await readLogPart(source(), { raw: true });
    expect([raw.text, raw.kinds]).toEqual(['\u001B[31mred\u001B[0m \u202E[redacted:baton-token]\n', []]);
  });

  it('joins to the whole log, in parts of any size, forward and backward', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 60 })),
        fc.integer({ min: 1, max: 80 }),
        async (lines, limit) => {
          const whole = lines.map((line) => `${line.replaceAll(/[\n\r]/g, ' ')}\n`).join('');
          writeFileSync(path, whole);
          expect(await readForward(limit, source(), true)).toBe(whole);
          let before = '';
          for (let to = Buffer.byteLength(whole); to > 0;) {
            const part = await readLogPart(source(), { to, to_lines: 2, limit_bytes: limit, raw: true });
            expect(part.from).toBeLessThan(to);
            before = part.text + before;
            to = part.from;
          }
          expect(before).toBe(whole);
        },
      ),
    );
  });

  it.each(globSync('test/fixtures/streams/{claude,codex,gemini}/*.jsonl').filter((file) => !file.includes('.record.')))(
    'is rendered as the whole log would be: %s',
    async (file) => {
      const format = file.includes('/claude/') ? 'stream-json' : file.includes('/codex/') ? 'codex' : 'gemini';
      const bytes = readFileSync(file);
      writeFileSync(path, bytes);
      const reader = new LogPartReader(format);
      const lines = [...reader.push(bytes).flatMap((group) => group.lines), ...reader.end()];
      expect(await readForward(1, source({ format }))).toBe(lines.map(({ text }) => `${text}\n`).join(''));
    },
  );

  it('has a line in parts if it is longer than a part', async () => {
    const whole = `${'ä'.repeat(700_000)}\nend\n`;
    writeFileSync(path, whole);
    expect((await readForward(1024, source(), true)).replace('\n', '')).toBe(whole);
  });

  it('is the end of the log if it was cut since', async () => {
    writeFileSync(path, 'one\n'.repeat(100));
    const { to, file } = await readLogPart(source(), {});
    rmSync(path);
    writeFileSync(join(folder, 'other'), '');
    writeFileSync(path, 'new\n'.repeat(200));
    expect(await readLogPart(source(), { from: to, file, to_lines: 1 })).toMatchObject({ text: 'new\n', is_cut: true });
    expect(await readLogPart(source(), { from: 9999, to_lines: 1 })).toMatchObject({ text: 'new\n', is_cut: true });
  });

  it('takes neither long nor much memory in a log of a gigabyte', async () => {
    writeFileSync(path, 'first\n');
    truncateSync(path, 1024 ** 3);
    appendFileSync(path, '\nlast but one\nlast\n');
    const before = process.memoryUsage().arrayBuffers;
    const last = await readLogPart(source(), { to_lines: 2 });
    expect(last).toMatchObject({ text: 'last but one\nlast\n', size: 1024 ** 3 + 19 });
    expect(await readLogPart(source(), { from: 0, limit_bytes: 100 })).toMatchObject({ text: 'first\n', to: 6 });
    const inside = await readLogPart(source(), { from: 6, limit_bytes: 100 });
    expect(inside.to).toBe(6 + 1024 ** 2);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20 * 1024 ** 2);
  });
});
