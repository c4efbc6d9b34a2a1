import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { HookedClient } from './client.ts';

export type Version =
  | { readonly kind: 'missing' }
  | { readonly kind: 'silent' }
  /** `known`: between the oldest and the newest that the tests were run with. */
  | { readonly kind: 'found'; readonly version: string; readonly is: 'known' | 'older' | 'newer' };

/** Which version of a client is on the PATH, and whether it is one that was tested. */
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

export function compareToTested(version: string, tested: readonly string[]): 'known' | 'older' | 'newer' {
  if (compare(version, tested[0] ?? '') < 0) return 'older';
  return compare(version, tested.at(-1) ?? '') > 0 ? 'newer' : 'known';
}

function compare(a: string, b: string): number {
  const [x, y] = [a, b].map((version) => version.split('.').map(Number));
  for (let n = 0; n < 3; n++) {
    const difference = (x?.[n] ?? 0) - (y?.[n] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** In words, for people. */
export function describeVersion(client: HookedClient, version: Version): string {
  const tested = client.tested.length === 1 ? client.tested[0] : `${client.tested[0]} to ${client.tested.at(-1)}`;
  switch (version.kind) {
    case 'missing':
      return 'not on the PATH';
    case 'silent':
      return `on the PATH, but does not say its version (tested: ${tested})`;
    case 'found':
      return version.is === 'known'
        ? `${version.version}, known`
        : `${version.version}, not known: ${version.is} than what was tested (${tested})`;
  }
}
