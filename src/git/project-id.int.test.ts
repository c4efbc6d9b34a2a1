import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectId } from './repository.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-id-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the id of a project', () => {
  it('distinguishes two repositories of the same name', () => {
    expect(idOf('a/demo')).toMatch(/^demo-[0-9a-f]{8}$/);
    expect(idOf('a/demo')).not.toBe(idOf('b/demo'));
  });

  it('is the same through a link', () => {
    const id = idOf('real/demo');
    symlinkSync(join(folder, 'real'), join(folder, 'link'));
    expect(idOf('link/demo')).toBe(id);
  });

  it.each(['..b', 'ü ß', 'x'.repeat(200), '漢字'])('copes with the name %j', (name) => {
    expect(idOf(name)).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/);
  });
});

function idOf(name: string): string {
  const mainTop = join(folder, name);
  mkdirSync(join(mainTop, '.git'), { recursive: true });
  return projectId({ mainTop, commonDir: join(mainTop, '.git') });
}
