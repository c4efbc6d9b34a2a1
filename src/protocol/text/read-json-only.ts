import type { SyntaxDocument } from './node.ts';
import { parseJsonTree } from './json.ts';

/** For the dialects that are JSON and nothing else: they start without the YAML reader, which hooks cannot afford. */
export function parseJsonDocument(text: string): SyntaxDocument {
  return { syntax: 'JSON', read: parseJsonTree(text) };
}
