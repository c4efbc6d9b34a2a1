import { createHash } from 'node:crypto';
import type { CommittedFile } from '../../git/committed-files.ts';
import { findDependencyFile } from '../../git/measures/dependencies.ts';
import { findCodeFiles } from '../../protocol/code-files/code-files.ts';

export interface CacheSource {
  /** What a commit contributes: files that the fill can see, or the whole tree. */
  readonly files: readonly Pick<CommittedFile, 'path' | 'object'>[];
  /** What fills the cache. */
  readonly command: string;
  /** Where it runs, and what it reaches: a sandbox mode with its image, the network, and the machine. */
  readonly place: readonly string[];
}

/** The name of a filled cache: whatever can change its content changes the name. */
export function cacheKey({ files, command, place }: CacheSource): string {
  const listed = files.map(({ path, object }) => [path, object] as const).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([VERSION, listed, command, place]))
    .digest('hex');
}

const VERSION = 2;

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

/**
 * The files that an installation usually needs: package files, settings of package managers and build tools, and the
 * programs that its command names. A fill sees no others, so only they can change its content.
 */
export function installFiles<File extends Pick<CommittedFile, 'path'>>(
  files: readonly File[],
  programs: readonly string[],
): readonly File[] {
  const isNamed = ({ path }: File): boolean => programs.includes(path) || INSTALLS.has(findCodeFiles(path)?.kind ?? '');
  return [...new Set([...packageFiles(files), ...files.filter(isNamed)])];
}

const INSTALLS: ReadonlySet<string> = new Set(['packages', 'build', 'shell']);

/** The command that fills a cache; undefined if the project installs nothing. */
export function fillCommand(setup: string | undefined, install: string | undefined): string | undefined {
  const commands = [...new Set([setup, install].flatMap((each) => each ?? []))];
  return commands.length === 0 ? undefined : commands.map((each) => `(\n${each}\n)`).join(' && ');
}
