import type { FilteredCopy } from './home-rules.ts';
import type { Machine } from './machine.ts';
import { joinPath } from './paths.ts';

interface CacheRow {
  readonly tool: string;
  /** The folder below the project's cache. */
  readonly folder: string;
  /** `${FOLDER}` is that folder, `${USER}` the user's own folder. */
  readonly env: Readonly<Record<string, string>>;
  /** The user's own folder below HOME. */
  readonly user?: string;
  /**
   * Variables to use instead if the user's folder exists: its content is large or hard to get again, and is used
   * read-only.
   */
  readonly envWithUser?: Readonly<Record<string, string>>;
}

/** The package caches of a process: the user's caches stay unchanged. */
export const CACHE_TABLE: readonly CacheRow[] = [
  { tool: 'tools that follow the XDG rules', folder: 'xdg', env: { XDG_CACHE_HOME: '${FOLDER}' } },
  { tool: 'npm', folder: 'npm', env: { npm_config_cache: '${FOLDER}' } },
  { tool: 'Yarn', folder: 'yarn', env: { YARN_CACHE_FOLDER: '${FOLDER}/v1', YARN_GLOBAL_FOLDER: '${FOLDER}/berry' } },
  // npm_config_store_dir is not set, because npm warns about unknown settings.
  { tool: 'pnpm', folder: 'pnpm', env: { PNPM_HOME: '${FOLDER}', pnpm_config_store_dir: '${FOLDER}/store' } },
  { tool: 'Bun', folder: 'bun', env: { BUN_INSTALL_CACHE_DIR: '${FOLDER}' } },
  { tool: 'Deno', folder: 'deno', env: { DENO_DIR: '${FOLDER}' } },
  { tool: 'pip', folder: 'pip', env: { PIP_CACHE_DIR: '${FOLDER}' } },
  { tool: 'uv', folder: 'uv', env: { UV_CACHE_DIR: '${FOLDER}' } },
  { tool: 'Poetry', folder: 'poetry', env: { POETRY_CACHE_DIR: '${FOLDER}' } },
  { tool: 'Pipenv', folder: 'pipenv', env: { PIPENV_CACHE_DIR: '${FOLDER}' } },
  { tool: 'conda', folder: 'conda', env: { CONDA_PKGS_DIRS: '${FOLDER}' } },
  { tool: 'Cargo', folder: 'cargo', env: { CARGO_HOME: '${FOLDER}' } },
  {
    tool: 'Go',
    folder: 'go',
    env: { GOCACHE: '${FOLDER}/build', GOMODCACHE: '${FOLDER}/mod', GOLANGCI_LINT_CACHE: '${FOLDER}/lint' },
  },
  { tool: 'Gradle', folder: 'gradle', env: { GRADLE_USER_HOME: '${FOLDER}' } },
  {
    tool: 'Maven',
    folder: 'maven',
    env: { MAVEN_ARGS: '-Dmaven.repo.local=${FOLDER}' },
    user: '.m2/repository',
    envWithUser: { MAVEN_ARGS: '-Dmaven.repo.local=${FOLDER} -Dmaven.repo.local.tail=${USER}' },
  },
  { tool: 'Coursier', folder: 'coursier', env: { COURSIER_CACHE: '${FOLDER}' } },
  { tool: 'Composer', folder: 'composer', env: { COMPOSER_CACHE_DIR: '${FOLDER}' } },
  {
    tool: 'NuGet',
    folder: 'nuget',
    env: { NUGET_PACKAGES: '${FOLDER}/packages', NUGET_HTTP_CACHE_PATH: '${FOLDER}/http' },
    user: '.nuget/packages',
    envWithUser: {
      NUGET_PACKAGES: '${FOLDER}/packages',
      NUGET_HTTP_CACHE_PATH: '${FOLDER}/http',
      NUGET_FALLBACK_PACKAGES: '${USER}',
    },
  },
  { tool: 'Bundler', folder: 'bundler', env: { BUNDLE_USER_CACHE: '${FOLDER}', GEM_SPEC_CACHE: '${FOLDER}/specs' } },
  { tool: 'Hex', folder: 'hex', env: { HEX_HOME: '${FOLDER}' } },
  {
    tool: 'Julia',
    folder: 'julia',
    env: { JULIA_DEPOT_PATH: '${FOLDER}:' },
    user: '.julia',
    envWithUser: { JULIA_DEPOT_PATH: '${FOLDER}:${USER}:' },
  },
  { tool: 'Zig', folder: 'zig', env: { ZIG_GLOBAL_CACHE_DIR: '${FOLDER}' } },
  { tool: 'ccache', folder: 'ccache', env: { CCACHE_DIR: '${FOLDER}' } },
  { tool: 'sccache', folder: 'sccache', env: { SCCACHE_DIR: '${FOLDER}' } },
  {
    tool: 'Corepack',
    folder: 'corepack',
    env: { COREPACK_HOME: '${FOLDER}' },
    user: '.cache/node/corepack',
    envWithUser: { COREPACK_HOME: '${USER}' },
  },
  {
    tool: 'node-gyp',
    folder: 'node-gyp',
    env: { npm_package_config_node_gyp_devdir: '${FOLDER}' },
    user: '.cache/node-gyp',
    envWithUser: { npm_package_config_node_gyp_devdir: '${USER}' },
  },
  {
    tool: 'Playwright',
    folder: 'playwright',
    env: { PLAYWRIGHT_BROWSERS_PATH: '${FOLDER}' },
    user: '.cache/ms-playwright',
    envWithUser: { PLAYWRIGHT_BROWSERS_PATH: '${USER}' },
  },
  {
    tool: 'Puppeteer',
    folder: 'puppeteer',
    env: { PUPPETEER_CACHE_DIR: '${FOLDER}' },
    user: '.cache/puppeteer',
    envWithUser: { PUPPETEER_CACHE_DIR: '${USER}' },
  },
  {
    tool: 'Cypress',
    folder: 'cypress',
    env: { CYPRESS_CACHE_FOLDER: '${FOLDER}' },
    user: '.cache/Cypress',
    envWithUser: { CYPRESS_CACHE_FOLDER: '${USER}' },
  },
];

export interface CachePlan {
  readonly env: Readonly<Record<string, string>>;
  /** Settings that a tool reads from the folder of its cache, to be written before the start. */
  readonly copies: readonly FilteredCopy[];
}

/**
 * The variables that make package tools use `folder`, and the settings to write into `settings`, which the process sees
 * there. Agents share a folder; the project's commands never write to one that another process reads.
 */
export function planCaches({ home, find }: Machine, folder: string, settings = folder): CachePlan {
  const pairs = CACHE_TABLE.flatMap(({ folder: below, env, user, envWithUser }) => {
    const ofUser = user === undefined ? undefined : joinPath(home, user);
    const chosen = envWithUser !== undefined && ofUser !== undefined && find(ofUser) !== undefined ? envWithUser : env;
    return Object.entries(chosen).map(([name, value]) => [
      name,
      value.replaceAll('${FOLDER}', joinPath(folder, below)).replaceAll('${USER}', ofUser ?? ''),
    ]);
  });
  const copies = ['.cargo/config.toml', '.cargo/config'].flatMap((path) => {
    const fact = find(joinPath(home, path));
    if (fact?.kind !== 'file') return [];
    return [{ from: fact.real, folder: settings, path: 'cargo/config.toml', filter: 'cargo config' } as const];
  });
  return { env: Object.fromEntries(pairs), copies: copies.slice(0, 1) };
}
