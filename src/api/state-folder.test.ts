import { homedir, userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findStateDir } from './state-folder.ts';

const BELOW = '.local/state/baton';

describe('the state folder', () => {
  it('is the one that is named, else below XDG_STATE_HOME, else below the home', () => {
    const env = { BATON_STATE_DIR: '/a', XDG_STATE_HOME: '/b', HOME: '/c' };
    expect(findStateDir(env)).toBe('/a');
    expect(findStateDir({ ...env, BATON_STATE_DIR: 'a' })).toBe(resolve('a'));
    expect(findStateDir({ ...env, BATON_STATE_DIR: '' })).toBe('/b/baton');
    expect(findStateDir({ HOME: '/c', XDG_STATE_HOME: 'relative' })).toBe(join('/c', BELOW));
  });

  it.each([undefined, '', 'relative/home'])('never depends on the current folder: HOME is %j', (HOME) => {
    const homes = [homedir(), userInfo().homedir].filter((path) => isAbsolute(path));
    expect(homes.map((path) => join(path, BELOW))).toContain(findStateDir({ HOME }));
  });
});
