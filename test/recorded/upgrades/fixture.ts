import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { PLACE, REPOSITORY } from '../place.ts';
import { writeKey } from '../record-ledger.ts';

const FOLDER = join(import.meta.dirname, '../../fixtures/upgrades');

/** The old version's report about its ledger. */
export interface Recorded {
  readonly entries: number;
  /** The hash of the entries as the old version exported them. */
  readonly sha256: string;
  /** The status of each task by id. */
  readonly tasks: Readonly<Record<string, string>>;
}

/**
 * The repository and the ledger. Excludes keys, tokens, logs and files of agents, because they contain paths of the
 * machine.
 */
const KEPT = [
  'sample/**',
  'sample/.{git,baton}/**',
  'state/projects/*.{db,checkpoint}',
  'state/projects.json',
  'state/repositories/**',
];

export function packVersion(name: string, recorded: Recorded): void {
  const paths = globSync(KEPT, { cwd: PLACE }).filter((path) => statSync(join(PLACE, path)).isFile());
  const files = [...new Set(paths)].toSorted().map((path) => [path, readFileSync(join(PLACE, path), 'base64')]);
  mkdirSync(FOLDER, { recursive: true });
  const packed: Packed = { recorded, files: Object.fromEntries(files) };
  writeFileSync(join(FOLDER, `${name}.json.br`), brotliCompressSync(JSON.stringify(packed)));
}

interface Packed {
  readonly recorded: Recorded;
  readonly files: Readonly<Record<string, string>>;
}

/** Restores the files at the path at which they were recorded, because the repository's path is part of its ledger. */
export function unpackVersion(name: string): Recorded {
  const packed: Packed = JSON.parse(brotliDecompressSync(readFileSync(join(FOLDER, `${name}.json.br`))).toString());
  for (const [path, bytes] of Object.entries(packed.files)) {
    mkdirSync(dirname(join(PLACE, path)), { recursive: true, mode: 0o700 });
    writeFileSync(join(PLACE, path), Buffer.from(bytes, 'base64'), { mode: path.startsWith('state') ? 0o600 : 0o644 });
  }
  // Git needs the folder even if it is empty.
  for (const repository of [join(REPOSITORY, '.git'), ...globSync(join(PLACE, 'state/repositories/*'))])
    mkdirSync(join(repository, 'refs/heads'), { recursive: true });
  writeKey();
  return packed.recorded;
}

/** The first `count` entries of an export, without the final checkpoint. */
export function hashEntries(exported: string, count: number): string {
  const lines = exported.split('\n').filter((line) => line.startsWith('{"entry"'));
  return createHash('sha256').update(lines.slice(0, count).join('\n')).digest('hex');
}
