import { filterCargoConfig } from './cargo-config.ts';
import { filterGitConfig } from './git-config.ts';
import { filterNpmrc } from './npmrc.ts';
import { filterPipConf } from './pip-conf.ts';

/**
 * Each filter removes the credentials from a configuration file, comments included. When in doubt, it removes the line.
 */
export const FILTERS = {
  npmrc: filterNpmrc,
  'pip.conf': filterPipConf,
  'cargo config': filterCargoConfig,
  'git config': filterGitConfig,
} as const satisfies Readonly<Record<string, (text: string) => string>>;

export type FilterName = keyof typeof FILTERS;

export function filterConfig(name: FilterName, text: string): string {
  return FILTERS[name](text.replace(/^\uFEFF/, ''));
}
