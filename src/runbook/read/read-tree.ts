import type { Node, ReadResult } from '../../protocol/text/node.ts';
import { parseJsonTree } from '../../protocol/text/json.ts';
import { parseYamlTree } from '../../protocol/text/yaml.ts';
import { parseTomlTree } from './read-toml.ts';

export const SYNTAXES = ['TOML', 'YAML', 'JSON'] as const;
export type Syntax = (typeof SYNTAXES)[number];

const BY_ENDING: Readonly<Record<string, Syntax>> = { toml: 'TOML', yaml: 'YAML', yml: 'YAML', json: 'JSON' };

/** The endings that a runbook may have. */
export const RUNBOOK_ENDINGS: readonly string[] = Object.keys(BY_ENDING);

const READERS: Readonly<Record<Syntax, (text: string) => ReadResult<Node>>> = {
  TOML: parseTomlTree,
  YAML: parseYamlTree,
  JSON: parseJsonTree,
};

export function parseTree(syntax: Syntax, text: string): ReadResult<Node> {
  const read = READERS[syntax](text);
  // A file that says nothing is an empty runbook, however it is written.
  if (read.ok && read.node.kind === 'null') return { ok: true, node: EMPTY };
  return read;
}

const EMPTY: Node = { kind: 'object', at: 0, end: 0, fields: new Map() };

/** By the ending of its name; what has none that we know, such as standard input, is recognised by how it begins. */
export function syntaxOf(path: string, text: string): Syntax {
  const ending = /\.([A-Za-z]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  const known = Object.hasOwn(BY_ENDING, ending) ? BY_ENDING[ending] : undefined;
  if (known !== undefined) return known;
  if (/^\s*\{/.test(text)) return 'JSON';
  return TOML_START.test(text) ? 'TOML' : 'YAML';
}

/** A table, or a key and an equals sign, after comments. */
const TOML_START = /^(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]*(?:\[|(?:[\w.-]|"[^"\n]*"|'[^'\n]*'|[ \t])+=)/;
