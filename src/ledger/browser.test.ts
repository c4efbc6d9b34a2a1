import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { exportLedger } from './verify/export.ts';
import { renderTaskProof } from './verify/proof-text.ts';
import { makeTaskProof, verifyTaskProof } from './verify/task-proof.ts';
import { nodeVerifier } from './writer/keys.ts';
import { openTestLedger, record, testDraft } from './writer/ledger.cases.ts';

describe('batonctl/ledger in a browser', () => {
  let source: string;
  let browser: object;

  beforeAll(async () => {
    source = await bundle(`export * from './index.ts';`);
    // A context with JavaScript itself and only those web APIs that the module may use.
    browser = createContext({ TextEncoder, TextDecoder, atob, btoa, crypto: { subtle: crypto.subtle } });
    runInContext(source, browser);
  });

  it('needs neither a module nor a global of Node', () => {
    expect(source).not.toMatch(/["']node:|\brequire\(|__require/);
    expect(source.match(/\b(?:Buffer|process|setImmediate|__dirname)\b(?!\w|['":])/g) ?? []).toEqual([]);
    for (const name of ['process', 'Buffer', 'require'])
      expect(runInContext(`typeof ${name}`, browser)).toBe('undefined');
  });

  it('would fail here if it needed Node', async () => {
    await expect(bundle(`export * from './writer/keys.ts';`)).rejects.toThrow('node:crypto');
  });

  it('checks a task proof as in Node, and refuses a changed proof', async () => {
    const ledger = await openTestLedger();
    await record(ledger, [testDraft(1), testDraft(2, 'T002'), testDraft(3)]);
    const proof = await makeTaskProof(ledger.store, nodeVerifier, 'demo', 'T001');
    if (!proof.ok) throw new Error(proof.problems[0].message);
    const text = renderTaskProof(proof.value);
    const check = `baton.verifyTaskProof(baton.webVerifier, text)`;
    expect(await inBrowser(check, text)).toEqual(reread(await verifyTaskProof(nodeVerifier, text)));
    expect(await inBrowser(check, text.replace('Schritt 3', 'Schritt 4'))).toMatchObject({ ok: false });
  });

  it('checks an export', async () => {
    const ledger = await openTestLedger();
    await record(
      ledger,
      Array.from({ length: 20 }, (_, i) => testDraft(i)),
    );
    let text = '';
    for await (const lines of exportLedger(ledger.store, nodeVerifier, 'demo')) text += lines;
    const lines = `(async function* () { yield* text.trimEnd().split('\\n'); })()`;
    expect(await inBrowser(`baton.verifyExport(baton.webVerifier, ${lines})`, text)).toMatchObject({
      ok: true,
      value: { project: 'demo', size: 21 },
    });
  });

  it('verifies an export in parts, and continues from what it remembers', async () => {
    const ledger = await openTestLedger();
    await record(ledger, [testDraft(1), testDraft(2)]);
    let text = '';
    for await (const lines of exportLedger(ledger.store, nodeVerifier, 'demo')) text += lines;
    const script = `(async () => {
      const first = new baton.ResumableVerification(baton.webVerifier);
      await first.add(text.trimEnd().split('\\n'));
      return baton.ResumableVerification.resume(baton.webVerifier, first.remember()).remember();
    })()`;
    expect(await inBrowser(script, text)).toMatchObject({ project: 'demo', size: 3 });
  });

  /** Values of another context belong to another realm, so they are compared as JSON. */
  async function inBrowser(expression: string, text: string): Promise<unknown> {
    const script = `((text) => ${expression}.then(JSON.stringify))(${JSON.stringify(text)})`;
    return JSON.parse(String(await runInContext(script, browser)));
  }
});

function reread(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

async function bundle(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: join(import.meta.dirname), loader: 'ts' },
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'iife',
    globalName: 'baton',
    logLevel: 'silent',
    legalComments: 'none',
    minifyWhitespace: true,
  });
  return outputFiles[0]?.text ?? '';
}
