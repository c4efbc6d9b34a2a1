import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import type { HookedClient, HookMachine, Scope } from './client.ts';
import { readFileText } from './files/file-text.ts';

export interface FileStatus {
  readonly scope: 'user' | 'project';
  readonly path: string;
  readonly parts: readonly string[];
  readonly problems: readonly string[];
  readonly missing: readonly string[];
}

/** Reads what is installed from the settings files; the record may belong to another state folder. */
export function readHooksStatus(client: HookedClient, scope: Scope, machine: HookMachine): readonly FileStatus[] {
  const files = client.files({ scope, options: { onStop: 'signal', claim: false }, machine });
  return files.map((file) => {
    const read = readFileText(file.path);
    const text = read.ok ? (read.file.text ?? '') : '';
    const found = read.ok ? file.find(text) : { parts: [], problems: [read.what] };
    const missing = found.parts.length === 0 ? [] : programsIn(text).filter((program) => !existsSync(program));
    return { scope: scope.kind, path: file.path, ...found, missing };
  });
}

function programsIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/[^'"\s]*baton\.cjs(?=['"\s])/g)].map(([program]) => program))];
}

export type Version =
  | { readonly kind: 'missing' }
  | { readonly kind: 'silent' }
  /** `known`: between the oldest and the newest version that the tests ran with. */
  | { readonly kind: 'found'; readonly version: string; readonly is: 'known' | 'older' | 'newer' };

export async function findVersion(
  client: HookedClient,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Version> {
  try {
    const { stdout } = await promisify(execFile)(client.name, ['--version'], { env, timeout: 20_000 });
    const version = /\d+\.\d+\.\d+/.exec(stdout)?.[0];
    return version === undefined
      ? { kind: 'silent' }
      : { kind: 'found', version, is: compareToTested(version, client.tested) };
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return { kind: isMissing ? 'missing' : 'silent' };
  }
}

function compareToTested(version: string, tested: readonly string[]): 'known' | 'older' | 'newer' {
  if (compare(version, tested[0] ?? '') < 0) return 'older';
  return compare(version, tested.at(-1) ?? '') > 0 ? 'newer' : 'known';
}

function compare(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

export function describeVersion(client: HookedClient, version: Version): string {
  const tested = client.tested.length === 1 ? client.tested[0] : `${client.tested[0]} to ${client.tested.at(-1)}`;
  switch (version.kind) {
    case 'missing':
      return 'not on the PATH';
    case 'silent':
      return `on the PATH, but does not report its version (tested: ${tested})`;
    case 'found':
      return version.is === 'known'
        ? `${version.version}, known`
        : `${version.version}, not tested: ${version.is} than the tested versions (${tested})`;
  }
}
