import { existsSync } from 'node:fs';
import type { HookedClient, HookMachine, Scope } from './client.ts';
import { readFileText } from './files/file-text.ts';

export interface FileStatus {
  readonly scope: 'user' | 'project';
  readonly path: string;
  readonly parts: readonly string[];
  readonly problems: readonly string[];
  /** Baton, as the hooks start it. */
  readonly programs: readonly string[];
  /** What they start and does not exist: Baton, or its Node. */
  readonly missing: readonly string[];
}

/** Reads what is installed from the settings files; the record may belong to another state folder. */
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

/** The programs of Baton that hooks and MCP servers name, quoted for a shell or as a JSON string. */
function programsIn(text: string): readonly string[] {
  const named = text.matchAll(/'([^'\n]*baton\.cjs)'|"([^"\n]*baton\.cjs)"|([^'"\s]*baton\.cjs)(?=['"\s])/g);
  return [...new Set([...named].map(([, quoted, json, plain]) => quoted ?? json ?? plain ?? ''))];
}

/** The Node that each hook command starts. */
function nodesIn(text: string): readonly string[] {
  const named = text.matchAll(/(?:'([^'\n]*)'|([^'"\s]+)) (?:'[^'\n]*baton\.cjs'|[^'"\s]*baton\.cjs) hooks run /g);
  return [...new Set([...named].map(([, quoted, plain]) => quoted ?? plain ?? ''))];
}
