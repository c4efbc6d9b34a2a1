import { describe, expect, it } from 'vitest';
import { HOME_TABLE } from './home-table.ts';
import { CACHE_TABLE, planCaches } from './caches.ts';
import { DEBIAN, madeUpMachine } from './made-up-machine.cases.ts';

describe('planCaches', () => {
  it('sends every tool to its own folder of the project', () => {
    const { env } = planCaches(madeUpMachine(DEBIAN), '/state/caches/app');
    expect(env).toMatchObject({
      npm_config_cache: '/state/caches/app/npm',
      PIP_CACHE_DIR: '/state/caches/app/pip',
      CARGO_HOME: '/state/caches/app/cargo',
      GOMODCACHE: '/state/caches/app/go/mod',
      MAVEN_ARGS: '-Dmaven.repo.local=/state/caches/app/maven',
      PLAYWRIGHT_BROWSERS_PATH: '/state/caches/app/playwright',
    });
    expect(Object.values(env).filter((value) => value.includes('${'))).toEqual([]);
  });

  it("uses the user's folder if a tool can read a second one, or its content is hard to get again", () => {
    const machine = madeUpMachine([...DEBIAN, '/home/ada/.m2/repository/', '/home/ada/.cache/ms-playwright/']);
    expect(planCaches(machine, '/c').env).toMatchObject({
      MAVEN_ARGS: '-Dmaven.repo.local=/c/maven -Dmaven.repo.local.tail=/home/ada/.m2/repository',
      PLAYWRIGHT_BROWSERS_PATH: '/home/ada/.cache/ms-playwright',
    });
  });

  it('copies the settings of cargo without tokens', () => {
    const machine = madeUpMachine([...DEBIAN, '/home/ada/.cargo/config.toml']);
    expect(planCaches(machine, '/c').copies).toEqual([
      { from: '/home/ada/.cargo/config.toml', folder: '/c', path: 'cargo/config.toml', filter: 'cargo config' },
    ]);
  });

  it("shows every folder of the user's that it names", () => {
    const shown = HOME_TABLE.filter(({ treatment }) => treatment === 'read').flatMap(({ paths }) => paths);
    const used = CACHE_TABLE.flatMap(({ user }) => (user === undefined ? [] : [user]));
    expect(used.filter((path) => !shown.some((row) => path === row || path.startsWith(`${row}/`)))).toEqual([]);
  });

  it('sets each variable once', () => {
    const names = CACHE_TABLE.flatMap(({ env }) => Object.keys(env));
    expect(names).toEqual([...new Set(names)]);
  });
});
