import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/ledger/format/canonical-json.ts';
import { verifyExport } from '../../src/ledger/verify/export.ts';
import { nodeVerifier } from '../../src/ledger/writer/keys.ts';
import { isLongLane } from '../lanes.ts';
import { FORGED, honestLines, keyOf, tampered } from './forged-exports.ts';
import { makeSample } from './make-sample.ts';

const VERIFIER = join(import.meta.dirname, '../../examples/verify-ledger.py');
const missing = new Set(['openssl', 'python3'].filter((name) => spawnSync(name, ['--help']).error));
const needs = (...names: string[]) => {
  const absent = names.filter((name) => missing.has(name));
  return { isMissing: absent.length > 0, note: absent.length === 0 ? '' : ` (${absent.join(', ')} missing)` };
};

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-outside-'));
  await makeSample(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

const proof = needs('openssl', 'python3');
describe.skipIf(proof.isMissing)(`a task proof${proof.note}`, () => {
  it('is verified with openssl and hashlib', () => {
    const script = join(import.meta.dirname, 'verify-with-openssl.py');
    expect(
      readFileSync(script, 'utf8')
        .split('\n')
        .filter((line) => line.trim() !== '').length,
    ).toBeLessThanOrEqual(40);
    const path = join(folder, 'proof.json');
    expect(run(script, path)).toMatchObject({ stdout: 'verified: 201 entries of T001\n', status: 0 });
    const text = readFileSync(path, 'utf8');
    const { entries, ...rest }: { entries: unknown[] } = JSON.parse(text);
    const shorter = canonicalJson({ ...rest, entries: entries.toSpliced(3, 2) }, 'integers', -2);
    for (const changed of [
      text.replace('Schritt 4 ', 'Schritt 5 '),
      text.replace('"v":2}', '"v":2,"v":2}'),
      text.replace('{', '{ '),
      shorter.ok ? `${shorter.value}\n` : '',
    ]) {
      writeFileSync(path, changed);
      expect(run(script, path).status).toBe(1);
    }
  });
});

const python = needs('python3');
describe.skipIf(python.isMissing)(`examples/verify-ledger.py${python.note}`, () => {
  it('verifies the export of a real ledger, and compares a known key', () => {
    const path = join(folder, 'export.ndjson');
    expect(run(VERIFIER, path)).toMatchObject({
      stdout: `verified: 604 entries. Trusted keys: ${keyOf(1)}\n`,
      status: 0,
    });
    expect(run(VERIFIER, path, '--key', keyOf(1)).status).toBe(0);
    expect(run(VERIFIER, path, '--key', keyOf(2))).toMatchObject({ status: 1 });
  });

  it('follows added and revoked keys, and skips signatures of unknown keys', async () => {
    const lines = honestLines();
    const { checkpoint } = JSON.parse(lines.at(-1) ?? '') as { checkpoint: string };
    const other = JSON.stringify({ checkpoint: checkpoint.replace('\n\n', `\n\n— other.example ${'A'.repeat(92)}\n`) });
    const honest = { two: lines, cosigned: [...lines.slice(0, -1), other], earlier: lines.slice(0, -3) };
    expect(await refusedByBaton(honest)).toEqual([]);
    expect(refusedByPython(honest)).toEqual([]);
  });

  it('refuses every forged export, as baton verify does', async () => {
    const forged = Object.fromEntries(Object.entries(FORGED).map(([name, make]) => [name, make()]));
    expect(await refusedByBaton(forged)).toEqual(Object.keys(forged));
    expect(refusedByPython(forged)).toEqual(Object.keys(forged));
  });

  it('refuses every changed, missing, repeated and moved line', () => {
    const changed = Object.fromEntries(tampered(isLongLane ? 1 : 40));
    expect(refusedByPython(changed)).toEqual(Object.keys(changed));
  }, 300_000);
});

type Exports = Readonly<Record<string, readonly string[]>>;

async function refusedByBaton(exports: Exports): Promise<string[]> {
  const refused: string[] = [];
  for (const [name, lines] of Object.entries(exports)) {
    const verified = await verifyExport(
      nodeVerifier,
      (async function* () {
        yield* lines;
      })(),
    );
    if (!verified.ok) refused.push(name);
  }
  return refused;
}

/** Loads the script once for all exports, because starting Python takes longer than verifying one. */
function refusedByPython(exports: Exports): string[] {
  const place = join(folder, 'exports');
  mkdirSync(place, { recursive: true });
  const names = Object.keys(exports);
  for (const [i, name] of names.entries()) writeFileSync(join(place, String(i)), `${exports[name]?.join('\n')}\n`);
  const { stdout, stderr, status } = run('-c', EACH, VERIFIER, place, String(names.length));
  expect([stderr, status]).toEqual(['', 0]);
  const verdicts = stdout.trim().split('\n');
  rmSync(place, { recursive: true });
  return names.filter((_, i) => verdicts[i] !== 'verified');
}

const EACH = `
import runpy, sys
verify = runpy.run_path(sys.argv[1])["verify"]
for i in range(int(sys.argv[3])):
    try: verify(f"{sys.argv[2]}/{i}"); print("verified")
    except ValueError as error: print(error)
`;

function run(...args: string[]): { stdout: string; stderr: string; status: number | null } {
  const { stdout, stderr, status } = spawnSync('python3', args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
  return { stdout, stderr, status };
}
