import { existsSync } from 'node:fs';
import type { HookedClient, HookMachine, Scope } from './client.ts';
import { readFileText } from './files/file-text.ts';

export interface FileStatus {
  readonly scope: 'user' | 'project';
  readonly path: string;
  /** What of ours is in it: the events with our hook, the MCP server. */
  readonly parts: readonly string[];
  readonly problems: readonly string[];
  /** Programs that it names and that are not there any more. */
  readonly missing: readonly string[];
}

/** What is installed, as the files say it: the record may be of another state folder. */
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

/** The command of Baton, as hooks and servers name it. */
function programsIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/[^'"\s]*baton\.cjs(?=['"\s])/g)].map(([program]) => program))];
}
