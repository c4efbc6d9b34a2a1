import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { DIALECTS } from './fuzz/dialects.ts';

/** The exported functions that parse and render each message kind. */
const FUNCTIONS: Readonly<Record<string, readonly [parse: string, render: string]>> = {
  exit: ['parseExitSignal', 'renderExitSignal'],
  mission: ['parseMission', 'renderMission'],
  result: ['parseResult', 'renderResult'],
  evidence: ['parseEvidenceBundle', 'renderEvidenceBundle'],
  thought: ['parseThoughtRecord', 'renderThoughtRecord'],
  'task-update': ['parseTaskUpdate', 'renderTaskUpdate'],
  handoff: ['parseHandoff', 'renderHandoff'],
  'agent-signal': ['parseAgentSignal', 'renderAgentSignal'],
  'stop-hook/input': ['parseStopHookInput', 'renderStopHookInput'],
  'stop-hook/output': ['parseStopHookOutput', 'renderStopHookOutput'],
};

describe('protocol/ in a browser', () => {
  let bundle: { source: string; imports: string[] };
  let browser: object;

  beforeAll(async () => {
    bundle = await bundleForBrowser(join(import.meta.dirname, '../src/protocol/index.ts'));
    browser = createBrowser();
    runInContext(bundle.source, browser);
  });

  it('imports nothing of Node', () => {
    expect(bundle.imports.filter((path) => path.startsWith('node:'))).toEqual([]);
    expect(bundle.source).not.toMatch(/["']node:|\brequire\(|__require/);
  });

  it('bundles everything it needs', () => {
    expect(bundle.imports).toEqual([]);
  });

  it('needs neither process nor Buffer nor require', () => {
    for (const name of ['process', 'Buffer', 'require', 'global', 'setImmediate', 'module']) {
      expect(runInContext(`typeof ${name}`, browser)).toBe('undefined');
    }
  });

  it('has functions for every message kind', () => {
    expect(Object.keys(FUNCTIONS).sort()).toEqual(DIALECTS.map(({ name }) => name).sort());
  });

  const samples = DIALECTS.flatMap(({ name, parse, samples }) =>
    samples.map(({ file, text }) => ({ name, parse, file, text })),
  );

  it.each(samples)('reads and writes $name/$file as Node does', ({ name, parse, text }) => {
    const [reader, writer] = FUNCTIONS[name] ?? [];
    const read = `baton.${reader}(${JSON.stringify(text)})`;
    expect(inBrowser(read)).toEqual(parse(text));
    expect(inBrowser(`baton.${reader}(baton.${writer}(${read}.value))`)).toEqual(parse(text));
  });

  it.each(DIALECTS.map(({ name }) => name))('reads bytes and refuses invalid input: %s', (name) => {
    const [reader] = FUNCTIONS[name] ?? [];
    expect(inBrowser(`baton.${reader}(new Uint8Array([0xff, 0x00]))`)).toMatchObject({ ok: false });
    expect(inBrowser(`baton.${reader}("}")`)).toMatchObject({ ok: false });
  });

  it('detects an import of Node', async () => {
    const entry = join(import.meta.dirname, '../src/cli/process-io.ts');
    expect(readFileSync(entry, 'utf8')).toMatch(/from 'node:/);
    const { imports } = await bundleForBrowser(entry);
    expect(imports.some((path) => path.startsWith('node:'))).toBe(true);
  });

  /** Values from the context belong to another realm, so they are compared as JSON. */
  function inBrowser(expression: string): unknown {
    return JSON.parse(String(runInContext(`JSON.stringify(${expression})`, browser)));
  }
});

/** Returns the bundle, and the modules that it would still load at run time. */
async function bundleForBrowser(entry: string): Promise<{ source: string; imports: string[] }> {
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'baton',
    external: ['node:*'],
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path));
  return { source: outputFiles[0]?.text ?? '', imports };
}

/** A context with JavaScript itself and the few web APIs that protocol/ may use. */
function createBrowser(): object {
  return createContext({ TextEncoder, TextDecoder, Uint8Array, URL });
}
