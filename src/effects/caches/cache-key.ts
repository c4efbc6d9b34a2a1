import { createHash } from 'node:crypto';
import type { CommittedFile } from '../../git/committed-files.ts';
import { findDependencyFile } from '../../git/measures/dependencies.ts';

export interface CacheSource {
  /** The package files of a commit: see `packageFiles`. */
  readonly files: readonly Pick<CommittedFile, 'path' | 'object'>[];
  /** What fills the cache. */
  readonly command: string;
  /** Where it runs: a sandbox mode with its image, and the machine. Caches may hold programs. */
  readonly place: readonly string[];
}

/** The name of a filled cache: another lock file, command or place needs another one. */
export function cacheKey({ files, command, place }: CacheSource): string {
  const listed = files.map(({ path, object }) => [path, object] as const).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([VERSION, listed, command, place]))
    .digest('hex');
}

const VERSION = 1;

/** The files of a commit that decide which packages and toolchains an installation fetches. */
export function packageFiles<File extends Pick<CommittedFile, 'path'>>(files: readonly File[]): readonly File[] {
  return files.filter(({ path }) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    return findDependencyFile(path) !== undefined || OTHERS.test(name);
  });
}

/** Files that `findDependencyFile` does not read. */
const OTHERS =
  /^(?:.*\.lock|.*\.lockfile|.*\.lock\.json|packages\.lock\.json|deno\.jsonc?|Gemfile|composer\.json|mix\.exs|pom\.xml|build\.gradle(?:\.kts)?|settings\.gradle(?:\.kts)?|libs\.versions\.toml|go\.work|go\.work\.sum|.*\.(?:cs|fs|vb)proj|Directory\.Packages\.props|global\.json|rust-toolchain(?:\.toml)?|\.nvmrc|\.node-version|\.python-version|\.ruby-version|\.tool-versions|mise\.toml)$/;

/** The command that fills a cache; undefined if the project installs nothing. */
export function fillCommand(setup: string | undefined, install: string | undefined): string | undefined {
  const commands = [...new Set([setup, install].flatMap((each) => each ?? []))];
  return commands.length === 0 ? undefined : commands.map((each) => `(\n${each}\n)`).join(' && ');
}
