import type { Document } from './node.ts';
import { readJson } from './read-json.ts';
import { readYaml } from './read-yaml.ts';

/** A message that may be written in either: what starts with a brace or a bracket is JSON, everything else is YAML. */
export function readDocument(text: string): Document {
  return /^\s*[[{]/.test(text) ? { syntax: 'JSON', read: readJson(text) } : { syntax: 'YAML', read: readYaml(text) };
}
