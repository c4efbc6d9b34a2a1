import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, type BuildOptions } from 'esbuild';

const root = join(import.meta.dirname, '..');

const shared: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2024',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  logLevel: 'warning',
  outdir: 'web',
  write: false,
};

export type PageFiles = ReadonlyMap<string, Uint8Array>;

/**
 * Bundles the page's scripts by name. The worker's name changes with its content, so that an old worker never serves a
 * new page.
 */
export async function bundlePage(): Promise<PageFiles> {
  const hub = await build({
    ...shared,
    entryPoints: { hub: 'src/web/hub/main.ts' },
    entryNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
    splitting: true,
  });
  const hubFile = hub.outputFiles?.find(({ path }) => basename(path).startsWith('hub-'));
  if (hubFile === undefined) throw new Error('the worker was not built');
  const page = await build({
    ...shared,
    entryPoints: { page: 'src/web/app/main.tsx' },
    define: { HUB_PATH: JSON.stringify(`/${basename(hubFile.path)}`) },
  });
  const files = [...(hub.outputFiles ?? []), ...(page.outputFiles ?? [])];
  return new Map(files.map(({ path, contents }) => [basename(path), contents]));
}

export async function writePage(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const name of PAGE_ASSETS) cpSync(join(root, 'src/web', name), join(folder, name));
  for (const [name, content] of await bundlePage()) writeFileSync(join(folder, name), content);
}

const PAGE_ASSETS = ['page.html', 'page.css', 'icon.svg', 'icon-needs.svg', 'icon-away.svg'];
