import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ContainerEngine } from '../../protocol/sandbox.ts';
import { tightenSeccomp } from './tighten-seccomp.ts';

/** Writes a session's profile into the folder. Null: the engine's default profile applies. */
export function writeSeccompProfile(
  { seccomp }: ContainerEngine,
  folder: string,
  options: { readonly nested: boolean },
): string | null {
  if (seccomp === null) return null;
  const profile = tightenSeccomp(readFileSync(seccomp, 'utf8'), options);
  if (profile === undefined) return null;
  const path = join(folder, 'seccomp.json');
  writeFileSync(path, profile);
  return path;
}
