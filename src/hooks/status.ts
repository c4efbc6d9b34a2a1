import { existsSync } from 'node:fs';
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
