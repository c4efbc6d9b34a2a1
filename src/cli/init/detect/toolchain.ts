/**
 * The files of a repository: all paths from its root, and a reader of their texts, which returns an empty text for an
 * unreadable file.
 */
export interface Listing {
  readonly paths: ReadonlySet<string>;
  readonly read: (path: string) => string;
}

/** In the order in which they run as checks. */
export const COMMAND_NAMES = ['install', 'build', 'lint', 'types', 'test'] as const;
export type CommandName = (typeof COMMAND_NAMES)[number];

/** What one build tool or language offers in the root of a repository. */
export interface Toolchain {
  /** Part of a check's name if two toolchains have a check of the same name. */
  readonly id: string;
  readonly title: string;
  /** The file that indicates the toolchain. */
  readonly from: string;
  readonly commands: Readonly<Partial<Record<CommandName, string>>>;
  /** Commands besides `install` that download packages. */
  readonly online?: readonly CommandName[];
  /** A folder that `install` fills, and that git must ignore. */
  readonly fills?: string;
}

export type Detector = (files: Listing) => Toolchain | undefined;

export function firstOf(files: Listing, ...paths: readonly string[]): string | undefined {
  return paths.find((path) => files.paths.has(path));
}

/** Whether a path of the repository matches. */
export function hasMatch(files: Listing, pattern: RegExp): boolean {
  return findMatch(files, pattern) !== undefined;
}

export function findMatch(files: Listing, pattern: RegExp): string | undefined {
  return [...files.paths].filter((path) => pattern.test(path)).toSorted()[0];
}

/** Drops the undefined commands. */
export function commandsOf(given: Readonly<Partial<Record<CommandName, string | undefined>>>): Toolchain['commands'] {
  return Object.fromEntries(Object.entries(given).filter(([, command]) => command !== undefined));
}
