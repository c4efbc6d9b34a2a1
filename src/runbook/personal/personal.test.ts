import { expect, it } from 'vitest';
import { withDefaults } from '../access.ts';
import { checkRunbook } from '../check/check-runbook.ts';
import { parsePersonal } from './personal.ts';

const read = (text: string) => parsePersonal({ path: '/home/ada/.config/baton/config.toml', text });

it('is the built-in values if it is empty', () => {
  expect(read('')).toEqual({
    ok: true,
    value: {
      floor: { sandbox: 'none', network: { policy: 'full' } },
      defaults: { sandbox: {}, network: {} },
      network: { hosts: [] },
      review: { unseparated: 'ask' },
    },
  });
});

it('has a floor, defaults, and what happens with verdicts whose sender is not proved', () => {
  const text = `
[floor]
sandbox = "user"
network = { policy = ["*.example.com"], local = [5432] }
[defaults]
sandbox = { mode = "container", memory = "2GB", read = ["~/.m2"] }
network = { policy = "model", checks = "none" }
[network]
hosts = ["127.0.0.1:4873", "npm.example.com"]
[review]
unseparated = "accept"
`;
  expect(read(text)).toEqual({
    ok: true,
    value: {
      floor: { sandbox: 'user', network: { policy: ['*.example.com'], local: [5432] } },
      defaults: {
        sandbox: { mode: 'container', memory_bytes: 2 * 1024 ** 3, read: ['~/.m2'] },
        network: { policy: 'model', checks: 'none' },
      },
      network: { hosts: ['127.0.0.1:4873', 'npm.example.com'] },
      review: { unseparated: 'accept' },
    },
  });
});

it.each([
  ['a setting that a project has', '[floor]\nsandbox = "none"\n[agents.a]\nrun = "true"\n', 3, 'unknown-field'],
  ['a floor that is no kind of sandbox', '[floor]\nsandbox = "auto"\n', 2, 'invalid-value'],
  ['an unknown choice', '[review]\nunseparated = "yes"\n', 2, 'invalid-value'],
  ['no TOML', '[floor\n', 1, 'invalid-toml'],
])('is refused as a whole, with file and line: %s', (_, text, line, code) => {
  const checked = read(text);
  expect(checked.ok ? [] : checked.problems).toMatchObject([
    { file: '/home/ada/.config/baton/config.toml', line, code },
  ]);
});

it('gives defaults that the runbook replaces, and lists that it extends', () => {
  const text = '[sandbox]\nread = ["~/a"]\nmode = "container"\n[network]\nchecks = "full"\n';
  const checked = checkRunbook([{ path: 'baton.toml', text }]);
  if (!checked.ok) throw new Error(checked.problems[0].message);
  const own = { sandbox: { mode: 'user', read: ['~/b'], processes: 99 }, network: { policy: 'model' } } as const;
  const { sandbox, network } = withDefaults(checked.value, own);
  expect(sandbox).toMatchObject({ mode: 'container', read: ['~/b', '~/a'], processes: 99 });
  expect(network).toEqual({ policy: 'model', checks: 'full' });
});
