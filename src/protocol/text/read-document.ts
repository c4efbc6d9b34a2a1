import type { SyntaxDocument } from './node.ts';
import { parseJsonTree } from './json.ts';
import { parseYamlTree } from './yaml.ts';

/** A message that may be written in either: what starts with a brace or a bracket is JSON, everything else is YAML. */
export function parseJsonOrYaml(text: string): SyntaxDocument {
  return /^\s*[[{]/.test(text)
    ? { syntax: 'JSON', read: parseJsonTree(text) }
    : { syntax: 'YAML', read: parseYamlTree(text) };
}
