import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

/** What the page checks proofs with. It must not need anything that only Node has. */
const PURE = [
  'canonical-json',
  'chain',
  'checkpoint',
  'draft',
  'entry',
  'export',
  'merkle',
  'note',
  'proof',
  'redact',
  'task-proof',
  'tree',
  'verify',
  'verify-export',
  'verify-task-proof',
];

describe('the pure part of the ledger', () => {
  it('is bundled for a browser', async () => {
    expect(await errorsOf(PURE.map((name) => `export * from './${name}.ts';`).join('\n'))).toEqual([]);
  });

  it('would fail here if it needed Node', async () => {
    expect(await errorsOf(`export * from './node-crypto.ts';`)).not.toEqual([]);
  });

  it('uses no global that only Node has', async () => {
    const { outputFiles = [] } = await bundle(PURE.map((name) => `export * from './${name}.ts';`).join('\n'));
    const code = outputFiles.map(({ text }) => text).join('');
    expect(code.match(/\b(?:Buffer|process|require|setImmediate|__dirname)\b(?!\w|['":])/g) ?? []).toEqual([]);
  });
});

async function errorsOf(contents: string): Promise<readonly string[]> {
  try {
    return (await bundle(contents)).errors.map(({ text }) => text);
  } catch (error) {
    return [String(error)];
  }
}

function bundle(contents: string): ReturnType<typeof build> {
  return build({
    stdin: { contents, resolveDir: join(import.meta.dirname), loader: 'ts' },
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'esm',
    logLevel: 'silent',
    legalComments: 'none',
    minifyWhitespace: true,
  });
}
