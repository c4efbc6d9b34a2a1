import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { ParsedArguments, Io } from '../command.ts';

/** `--prompt FILE`, as typed in the current folder, from the top of the repository: there agents look for it. */
export function findPromptPath(
  { options }: ParsedArguments,
  { cwd }: Io,
): { readonly prompt_file?: string } | { readonly usage: string } {
  const file = options.get('prompt');
  if (file === undefined) return {};
  const folder = resolve(cwd, options.get('project') ?? '.');
  const path = resolve(folder, file);
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return { usage: `--prompt ${file}: there is no such file` };
  const top = findTop(folder);
  const inside = top === undefined ? file : relative(top, path);
  return inside.startsWith('..')
    ? { usage: `--prompt ${file}: it is not in this repository` }
    : { prompt_file: inside };
}

function findTop(folder: string): string | undefined {
  if (existsSync(join(folder, '.git'))) return folder;
  return dirname(folder) === folder ? undefined : findTop(dirname(folder));
}
