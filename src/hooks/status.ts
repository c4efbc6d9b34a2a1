import { existsSync } from 'node:fs';
import type { HookedClient, HookMachine, Scope } from './client.ts';
import { readFileText } from './files/file-text.ts';

export interface FileStatus {
  readonly scope: 'user' | 'project';
  readonly path: string;
  readonly parts: readonly string[];
  readonly problems: readonly string[];
  /** The paths of Baton that the hooks start. */
  readonly programs: readonly string[];
  /** The programs that the hooks start but that do not exist: Baton, or its Node. */
  readonly missing: readonly string[];
}

/** Reads the installation from the settings files, because the record may be in another state folder. */
export function readHooksStatus(client: HookedClient, scope: Scope, machine: HookMachine): readonly FileStatus[] {
  const files = client.files({ scope, options: { onStop: 'signal', claim: false }, machine });
  return files.map((file) => {
    const read = readFileText(file.path);
    const text = read.ok ? (read.file.text ?? '') : '';
    const found = read.ok ? file.find(text) : { parts: [], problems: [read.what] };
    const programs = found.parts.length === 0 ? [] : programsIn(text);
    const started = found.parts.length === 0 ? [] : [...nodesIn(text), ...programs];
    const missing = started.filter((program) => !existsSync(program));
    return { scope: scope.kind, path: file.path, ...found, programs, missing };
  });
}

/** The paths of Baton that hooks and MCP servers name, quoted for a shell or as a JSON string. */
function programsIn(text: string): readonly string[] {
  const named = text.matchAll(/'([^'\n]*baton\.cjs)'|"([^"\n]*baton\.cjs)"|([^'"\s]*baton\.cjs)(?=['"\s])/g);
  return [...new Set([...named].map(([, quoted, json, plain]) => quoted ?? json ?? plain ?? ''))];
}

/** The path of Node in each hook command. */
function nodesIn(text: string): readonly string[] {
  const named = text.matchAll(/(?:'([^'\n]*)'|([^'"\s]+)) (?:'[^'\n]*baton\.cjs'|[^'"\s]*baton\.cjs) hooks run /g);
  return [...new Set([...named].map(([, quoted, plain]) => quoted ?? plain ?? ''))];
}
