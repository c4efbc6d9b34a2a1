import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '../../../test/processes/until.ts';
import { followFile, resumeAfterCut } from './follow-file.ts';

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'baton-follow-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'output.log');
}

/** Follows a file. Returns what was read so far, and a promise of the end. */
function follow(path: string) {
  const controller = new AbortController();
  let read = '';
  const ended = (async () => {
    for await (const bytes of followFile(path, { signal: controller.signal })) read += bytes.toString('utf8');
  })();
  return {
    has: async (text: string) => until(`the file reads ${text}`, () => read === text),
    end: async () => {
      controller.abort();
      await ended;
      return read;
    },
  };
}

it('reads the current content, and what is added', async () => {
  const path = newFile();
  writeFileSync(path, 'one\n');
  const reading = follow(path);
  await reading.has('one\n');
  appendFileSync(path, 'two\n');
  await reading.has('one\ntwo\n');
  appendFileSync(path, 'three\n');
  expect(await reading.end()).toBe('one\ntwo\nthree\n');
});

it('waits for a file that does not exist yet', async () => {
  const path = newFile();
  const reading = follow(path);
  await reading.has('');
  writeFileSync(path, 'late\n');
  await reading.has('late\n');
  expect(await reading.end()).toBe('late\n');
});

it('continues after its last position when the log was cut', async () => {
  const path = newFile();
  writeFileSync(path, 'aaaabbbbccccdddd');
  const reading = follow(path);
  await reading.has('aaaabbbbccccdddd');
  writeFileSync(`${path}.draft`, 'aaaa\n[baton: 8 bytes of output were cut here]\nddddeeee');
  renameSync(`${path}.draft`, path);
  await reading.has('aaaabbbbccccddddeeee');
  appendFileSync(path, 'ffff');
  await reading.has('aaaabbbbccccddddeeeeffff');
  expect(await reading.end()).toBe('aaaabbbbccccddddeeeeffff');
});

it('reads once on request, even a missing file', async () => {
  const path = newFile();
  const { signal } = new AbortController();
  const read = async (): Promise<string> => {
    let text = '';
    for await (const bytes of followFile(path, { signal, once: true })) text += bytes.toString('utf8');
    return text;
  };
  expect(await read()).toBe('');
  writeFileSync(path, 'one');
  expect(await read()).toBe('one');
});

it('finds where to continue in a cut log', () => {
  expect(resumeAfterCut(Buffer.from('never cut'))).toBe(0);
  expect(resumeAfterCut(Buffer.from('é\n[baton: 8 bytes of output were cut here]\nxy'))).toBe(
    Buffer.byteLength('é\n[baton: 8 bytes of output were cut here]\nxy'),
  );
});
