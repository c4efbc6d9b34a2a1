import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { samples } from '../../test/lanes.ts';
import type { ClientFile, HookedClient, HookOptions, InstallRequest, Scope } from './client.ts';
import { claudeHooks, geminiHooks } from './clients.ts';
import { codexHooks } from './codex.ts';
import { parseToml } from './edit/edit-toml.ts';
import { insertAll, removeInsertions } from './edit/insertions.ts';
import { scanJson, valueOf } from './edit/scan-json.ts';
import { hashOf } from './files/file-text.ts';
import { textWithoutBaton } from './install.ts';
import { settingsText, tomlText } from './settings-text.cases.ts';

const machine = {
  env: {},
  home: '/home/ada',
  stateDir: '/state',
  namesStateDir: true,
  node: "/opt/no'de",
  baton: '/opt/baton/bin/baton.cjs',
};

const wanted = fc.record({
  scope: fc.constantFrom<Scope>({ kind: 'user' }, { kind: 'project', root: '/p' }),
  options: fc.record({ onStop: fc.constantFrom('signal' as const, 'allow' as const), claim: fc.boolean() }),
});

describe.each([claudeHooks, codexHooks, geminiHooks])('edits of the files of $name', (client) => {
  const cases = wanted.chain((asked) => {
    const files = filesOf(client, asked);
    return fc.record({
      asked: fc.constant(asked),
      file: fc.constantFrom(...files),
      text: files[0]?.format === 'toml' ? tomlText() : settingsText(),
    });
  });

  it('are removed byte for byte, with and without a record', () => {
    fc.assert(
      fc.property(cases, ({ file, text }) => {
        const { after, installed } = install(file, text);
        expect(removeInsertions(after, installed.insertions)).toBe(text);
        expect(textWithoutBaton(file, after, installed)).toBe(text);
        // Without a matching record, Baton's entries are found by their content.
        expect(textWithoutBaton(file, after, { ...installed, hash: '' })).toBe(text);
      }),
      { numRuns: samples(500) },
    );
  });

  it('are the same when installed twice, or with other options in between', () => {
    fc.assert(
      fc.property(cases, wanted, ({ file, text, asked }, { options }) => {
        const once = install(file, text);
        const again = install(file, textWithoutBaton(file, once.after, once.installed));
        expect(again.after).toBe(once.after);
        const other = filesOf(client, { ...asked, options }).find(({ path }) => path === file.path) ?? file;
        const changed = install(other, textWithoutBaton(file, once.after, once.installed));
        expect(textWithoutBaton(other, changed.after, changed.installed)).toBe(text);
      }),
    );
  });

  it('leave everything else unchanged, and are found', () => {
    fc.assert(
      fc.property(cases, ({ file, text }) => {
        const { after } = install(file, text);
        const before: unknown = read(file, text);
        expect(read(file, after)).toMatchObject(withoutLists(before) as object);
        expect(file.find(text).parts).toEqual([]);
        expect(file.find(after).parts.length + (file.path.endsWith('/config.toml') ? 1 : 0)).toBeGreaterThan(0);
      }),
    );
  });

  it('are removed after the user has changed other settings, which stay', () => {
    fc.assert(
      fc.property(cases, ({ file, text }) => {
        const { after, installed } = install(file, text);
        const edit = (given: string) =>
          given.replace('opus', 'sonnet').replace('gpt-5', 'gpt-6').replace('// the end', '// !');
        expect(textWithoutBaton(file, edit(after), installed)).toBe(edit(text));
      }),
    );
  });
});

function filesOf(
  client: HookedClient,
  asked: Omit<InstallRequest, 'machine'> & { options: HookOptions },
): readonly ClientFile[] {
  return client.files({ ...asked, machine });
}

function install(file: ClientFile, text: string) {
  const added = file.add(text);
  if (!added.ok) throw new Error(added.what);
  const after = insertAll(text, added.insertions);
  const { insertions, made } = added;
  return { after, installed: { path: '', hash: hashOf(after), insertions, made, created: false, folders: [] } };
}

function read(file: ClientFile, text: string): unknown {
  if (file.format === 'toml') {
    const toml = parseToml(text);
    if (!toml.ok) throw new Error(toml.what);
    return toml.value;
  }
  const json = scanJson(text);
  if (!json.ok) throw new Error(`${json.what} in ${text}`);
  return json.root === undefined ? {} : valueOf(json.root);
}

/** The value without its lists, which may have grown at their end. */
function withoutLists(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const kept = Object.entries(value).filter(
    ([key, member]) => key !== 'hooks' && !(Array.isArray(member) && key === 'Stop'),
  );
  return Object.fromEntries(kept.map(([key, member]) => [key, withoutLists(member)]));
}
