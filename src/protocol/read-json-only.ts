import type { Document } from './node.ts';
import { readJson } from './read-json.ts';

/** For the dialects that are JSON and nothing else: they start without the YAML reader, which hooks cannot afford. */
export function readJsonOnly(text: string): Document {
  return { syntax: 'JSON', read: readJson(text) };
}
