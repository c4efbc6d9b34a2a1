import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { DamagedParts } from '../store.ts';
import { PartsFile } from './parts-file.ts';

function scene() {
  const folder = mkdtempSync(join(tmpdir(), 'baton-parts-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'x.db.state');
  const file = new PartsFile(path);
  const read = async (): Promise<string[] | undefined> => {
    const parts = await file.read();
    if (parts === undefined) return undefined;
    const texts: string[] = [];
    for await (const part of parts) texts.push(Buffer.from(part).toString());
    return texts;
  };
  return { folder, path, file, read };
}

async function* parts(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

it('keeps the newest parts, in order, also parts larger than what is read at once', async () => {
  const { file, read, folder } = scene();
  expect(await read()).toBeUndefined();
  await file.write(parts('old'));
  const large = 'x'.repeat(3_000_001);
  await file.write(parts('one', large, 'three'));
  expect(await read()).toEqual(['one', large, 'three']);
  expect(readdirSync(folder)).toEqual(['x.db.state']);
  await file.drop();
  expect(await read()).toBeUndefined();
});

it('keeps the earlier parts if a write fails in the middle', async () => {
  const { file, read, folder } = scene();
  await file.write(parts('whole'));
  const torn = async function* () {
    yield Buffer.from('half');
    throw new Error('stopped');
  };
  await expect(file.write(torn())).rejects.toThrow('stopped');
  expect(await read()).toEqual(['whole']);
  expect(readdirSync(folder)).toEqual(['x.db.state']);
});

it('removes what a killed writer has left', async () => {
  const { file, folder, path } = scene();
  writeFileSync(`${path}.draft`, 'half');
  await file.removeDraft();
  expect(readdirSync(folder)).toEqual([]);
});

it('reports every shortened or lengthened file', async () => {
  const { file, path, read } = scene();
  await file.write(parts('one', 'two'));
  const whole = readFileSync(path);
  for (let length = 0; length < whole.length; length += 1) {
    writeFileSync(path, whole.subarray(0, length));
    await expect(read(), `${length} bytes`).rejects.toThrow(DamagedParts);
  }
  writeFileSync(path, Buffer.concat([whole, Buffer.of(0)]));
  await expect(read()).rejects.toThrow(DamagedParts);
  writeFileSync(path, 'rubbish');
  await expect(read()).rejects.toThrow(DamagedParts);
});
