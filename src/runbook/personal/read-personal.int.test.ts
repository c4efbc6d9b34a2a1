import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findPersonalFolder, readPersonal } from './read-personal.ts';

let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'baton-personal-')));
});
afterEach(() => rmSync(home, { recursive: true }));

function write(path: string, text: string): string {
  const full = join(home, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
  return full;
}

it('is below XDG_CONFIG_HOME if that is absolute, else below the home', () => {
  expect(findPersonalFolder({ HOME: '/home/ada', XDG_CONFIG_HOME: '/etc/ada' })).toBe('/etc/ada/baton');
  expect(findPersonalFolder({ HOME: '/home/ada', XDG_CONFIG_HOME: '.config' })).toBe('/home/ada/.config/baton');
  expect(findPersonalFolder({ HOME: '/home/ada' })).toBe('/home/ada/.config/baton');
});

it('may be absent, and is read again when it changes', () => {
  const read = () => readPersonal({ HOME: home });
  expect(read()).toMatchObject({ exists: false, problems: [], value: { floor: { sandbox: 'none' } } });
  write('.config/baton/config.toml', '[floor]\nsandbox = "user"\n');
  expect(read()).toMatchObject({ exists: true, problems: [], value: { floor: { sandbox: 'user' } } });
});

it('does not count as empty if it cannot be used', () => {
  const path = write('.config/baton/config.toml', '\n[floor]\nsandbox = "strong"\n');
  expect(readPersonal({ HOME: home }).problems).toMatchObject([{ file: path, line: 3 }]);
  rmSync(path);
  mkdirSync(path);
  expect(readPersonal({ HOME: home }).problems).toMatchObject([{ message: expect.stringContaining('not a file') }]);
});

it('is never a file of the project, whatever names it', () => {
  const inside = write('project/.config/baton/config.toml', '[review]\nunseparated = "accept"\n');
  const named = { HOME: home, XDG_CONFIG_HOME: join(home, 'project/.config') };
  expect(readPersonal(named, join(home, 'project'))).toMatchObject({
    problems: [{ message: expect.stringContaining('it is inside the project') }],
    value: { review: { unseparated: 'ask' } },
  });
  mkdirSync(join(home, 'other'));
  expect(readPersonal(named, join(home, 'other')).problems).toEqual([]);
  mkdirSync(join(home, '.config/baton'), { recursive: true });
  symlinkSync(inside, join(home, '.config/baton/config.toml'));
  expect(readPersonal({ HOME: home }, join(home, 'project')).problems).toHaveLength(1);
});
