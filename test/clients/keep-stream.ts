import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { World } from './world.ts';

/**
 * Stores a client's output as a fixture for the parsers if `BATON_RECORD_STREAMS=1`. Paths, ports, ids and times of
 * this run are replaced, and the long lists of the first line removed.
 */
export function keepStream(client: string, name: string, lines: readonly string[], { home, door, model }: World): void {
  if (process.env['BATON_RECORD_STREAMS'] === undefined) return;
  const folder = join(import.meta.dirname, '../fixtures/streams', client);
  mkdirSync(folder, { recursive: true });
  const kept = lines.filter((line) => line.startsWith('{')).map((line) => withoutLists(line));
  const text = kept
    .join('\n')
    .replaceAll(join(home, '..'), '/world')
    .replaceAll(door.url, 'http://127.0.0.1:1')
    .replaceAll(model.url, 'http://127.0.0.1:2')
    .replaceAll(/127\.0\.0\.1:\d{2,}/g, '127.0.0.1:2')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-01-01T00:00:00.000Z')
    .replaceAll(/\/bin\/[a-z]*sh -lc/g, '/bin/sh -lc');
  writeFileSync(join(folder, `${name}.jsonl`), `${numberIds(text)}\n`);
}

/** Claude Code's first line lists everything that it supports; a subset suffices for the parser. */
function withoutLists(line: string): string {
  const said = JSON.parse(line) as Record<string, unknown>;
  if (said['subtype'] !== 'init') return line;
  const { type, subtype, cwd, session_id, model, permissionMode, mcp_servers, claude_code_version, uuid } = said;
  return JSON.stringify({
    type,
    subtype,
    cwd,
    session_id,
    model,
    permissionMode,
    mcp_servers,
    claude_code_version,
    uuid,
  });
}

function numberIds(text: string): string {
  const ids = new Map<string, string>();
  return text.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => {
    const known = ids.get(id) ?? `00000000-0000-4000-8000-${String(ids.size + 1).padStart(12, '0')}`;
    ids.set(id, known);
    return known;
  });
}
