import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The lines of a recorded stream of a real client (`BATON_RECORD_STREAMS=1 npm run test:clients`). */
export function recorded(client: string, name: string): readonly string[] {
  const file = join(import.meta.dirname, '../../test/fixtures/streams', client, `${name}.jsonl`);
  return readFileSync(file, 'utf8').trimEnd().split('\n');
}

/** Lines that every parser must ignore without failing. */
export const STRANGE_LINES = [
  '',
  'text',
  '{',
  '[]',
  'null',
  '{}',
  '{"type":"result"',
  '{"type":7}',
  '{"type":"unheard-of"}',
  '{"x":429}',
];
