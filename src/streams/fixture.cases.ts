import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The lines of a stream that a real client printed (`BATON_RECORD_STREAMS=1 npm run test:clients`). */
export function recorded(client: string, name: string): readonly string[] {
  const file = join(import.meta.dirname, '../../test/fixtures/streams', client, `${name}.jsonl`);
  return readFileSync(file, 'utf8').trimEnd().split('\n');
}

/** Lines that no reader may stumble over, and that say nothing. */
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
