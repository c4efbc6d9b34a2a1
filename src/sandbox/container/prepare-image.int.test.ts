import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ContainerEngine } from '../../protocol/sandbox.ts';
import { type ImageSource, type PreparedImage, prepareImage } from './prepare-image.ts';

/** Keeps what it builds as files: the Dockerfile, and a file of the context. */
const ENGINE = `
  case "$1" in
    image) test -e "$STORE/$(printf '%s' "$5" | tr '/:' '__')" && echo '{"Env":["A=b"]}';;
    build) file="$5"; for last; do :; done; { cat "$file"; cat "$last/tool.sh"; } >"$STORE/$(printf '%s' "$3" | tr '/:' '__')";;
  esac`;

let folder: string;
let engine: ContainerEngine;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-image-'));
  mkdirSync(join(folder, 'store'));
  writeFileSync(join(folder, 'engine.sh'), ENGINE.replaceAll('$STORE', join(folder, 'store')));
  engine = { command: ['sh', join(folder, 'engine.sh')] } as unknown as ContainerEngine; // oxlint-disable-line typescript/no-unsafe-type-assertion
});
afterEach(() => rmSync(folder, { recursive: true }));

function sourceOf(dockerfile: string, tool: string, tree = 'tree'): ImageSource {
  const checkout = join(folder, 'checkout');
  return {
    build: { dockerfile: '.devcontainer/Dockerfile', context: '.devcontainer', args: {}, target: null },
    dockerfile,
    tree,
    checkOut: async () => {
      mkdirSync(join(checkout, '.devcontainer'), { recursive: true });
      writeFileSync(join(checkout, '.devcontainer/tool.sh'), tool);
      writeFileSync(join(folder, 'secret'), 'FROM secret\n');
      symlinkSync(join(folder, 'secret'), join(checkout, '.devcontainer/Dockerfile'));
      return { ok: true, folder: checkout, remove: async () => rmSync(checkout, { recursive: true }) };
    },
  };
}

const prepare = async (source: ImageSource): Promise<PreparedImage> =>
  prepareImage({ engine, source, log: join(folder, 'log') });

function contentOf(prepared: PreparedImage): string {
  const image = prepared.ok ? prepared.image : '';
  return readFileSync(join(folder, 'store', image.replaceAll(/[/:]/g, '_')), 'utf8');
}

it('is built from the adopted Dockerfile and a checkout, of which nothing is left', async () => {
  const built = await prepare(sourceOf('FROM a\n', 'one'));
  expect(built).toMatchObject({ ok: true, env: { A: 'b' } });
  expect(contentOf(built)).toBe('FROM a\none');
  expect(existsSync(join(folder, 'checkout'))).toBe(false);
  expect(existsSync(join(folder, 'checkout.Dockerfile'))).toBe(false);
});

it('is another image for another context or Dockerfile, and the same for the same', async () => {
  const first = await prepare(sourceOf('FROM a\n', 'one'));
  const [again, context, dockerfile] = [
    await prepare({ ...sourceOf('FROM a\n', 'one'), checkOut: async () => ({ ok: false, reason: 'not needed' }) }),
    await prepare(sourceOf('FROM a\n', 'two', 'other tree')),
    await prepare(sourceOf('FROM b\n', 'one')),
  ];
  expect(again).toEqual(first);
  expect(contentOf(context)).toBe('FROM a\ntwo');
  expect(contentOf(dockerfile)).toBe('FROM b\none');
});

it('reports why the main branch cannot be checked out', async () => {
  const source = { ...sourceOf('FROM a\n', ''), checkOut: async () => ({ ok: false, reason: 'no commit' }) as const };
  expect(await prepare(source)).toMatchObject({ ok: false, reason: expect.stringContaining('no commit') });
});
