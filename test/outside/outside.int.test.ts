import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSample } from './make-sample.ts';

const missing = ['openssl', 'python3'].filter((name) => spawnSync(name, ['--help']).error);
/** If a tool is missing, the tests are skipped, and their names state what is missing. */
const needs = missing.length === 0 ? '' : ` (${missing.join(', ')} missing)`;

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-outside-'));
  await makeSample(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe.skipIf(missing.length > 0)(`others, with their own tools${needs}`, () => {
  it('accept a task proof with openssl and hashlib', () => {
    const script = join(import.meta.dirname, 'verify-with-openssl.py');
    expect(scriptLines(readFileSync(script, 'utf8'))).toBeLessThanOrEqual(40);
    expectVerdicts(script, 'proof.json', 'verified: 200 entries of T001');
  });

  it('accept an export with the script in the documentation', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/ledger.md'), 'utf8');
    const text = /^```python\n([^]*?)^```$/m.exec(page)?.[1] ?? '';
    expect(scriptLines(text)).toBeLessThanOrEqual(30);
    const script = join(folder, 'verify-export.py');
    writeFileSync(script, text);
    expectVerdicts(script, 'export.ndjson', 'verified: 603 entries');
  });
});

/** Checks that the script accepts the file unchanged, and refuses it with one letter changed. */
function expectVerdicts(script: string, file: string, verdict: string): void {
  const path = join(folder, file);
  const good = run(script, path);
  const changed = join(folder, `changed-${file}`);
  writeFileSync(changed, readFileSync(path, 'utf8').replace('Schritt 4 ', 'Schritt 5 '));
  const bad = run(script, changed);
  expect([good.stdout.trim(), good.status, bad.status]).toEqual([verdict, 0, 1]);
}

function run(script: string, file: string): { stdout: string; status: number | null } {
  const { stdout, status } = spawnSync('python3', [script, file], { encoding: 'utf8' });
  return { stdout, status };
}

function scriptLines(text: string): number {
  return text.split('\n').filter((line) => line.trim() !== '').length;
}
