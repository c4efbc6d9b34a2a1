import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CredentialKeeper, isWellFormed } from './credentials.ts';

let folder: string;
let original: string;
let copy: string;
const printed: string[] = [];
const OLD = '{"token":"old"}';
const NEW = '{"token":"new"}';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-login-'));
  original = join(folder, 'original.json');
  copy = join(folder, 'copy.json');
  for (const path of [original, copy]) writeFileSync(path, OLD);
  printed.length = 0;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function keeper(): CredentialKeeper {
  const digest = createHash('sha256').update(OLD).digest('hex');
  return new CredentialKeeper([{ original, copy, digest, format: 'json' }], (line) => printed.push(line));
}

describe('the login of a sandboxed client', () => {
  it('is written back if the client renewed it', () => {
    writeFileSync(copy, NEW);
    keeper().compareAll();
    expect(readFileSync(original, 'utf8')).toBe(NEW);
  });

  it('is not written back if the user changed theirs, which the session then gets', () => {
    writeFileSync(copy, NEW);
    writeFileSync(original, '{"token":"of the user"}');
    keeper().compareAll();
    expect(readFileSync(original, 'utf8')).toBe('{"token":"of the user"}');
    expect(readFileSync(copy, 'utf8')).toBe('{"token":"of the user"}');
  });

  it.each(['', 'not json', '[]', '{}', '"text"'])('is not written back if it is %j', (text) => {
    writeFileSync(copy, text);
    keeper().compareAll();
    expect(readFileSync(original, 'utf8')).toBe(OLD);
  });

  it('is not read through a link that the session made', () => {
    writeFileSync(join(folder, 'secret.json'), '{"of":"somebody else"}');
    rmSync(copy);
    symlinkSync(join(folder, 'secret.json'), copy);
    keeper().compareAll();
    expect(readFileSync(original, 'utf8')).toBe(OLD);
  });

  it('moves from session to session, each renewal once', () => {
    const other = join(folder, 'other.json');
    writeFileSync(other, OLD);
    const digest = createHash('sha256').update(OLD).digest('hex');
    const second = new CredentialKeeper([{ original, copy: other, digest, format: 'json' }], () => undefined);
    const first = keeper();
    writeFileSync(copy, NEW);
    first.compareAll();
    second.compareAll();
    expect(readFileSync(other, 'utf8')).toBe(NEW);
    writeFileSync(other, '{"token":"third"}');
    second.compareAll();
    first.compareAll();
    expect(readFileSync(copy, 'utf8')).toBe('{"token":"third"}');
  });

  it('accepts texts that are no JSON only where the client writes such', () => {
    expect([isWellFormed('abc', 'text'), isWellFormed(' \n', 'text'), isWellFormed('a\0', 'text')]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
