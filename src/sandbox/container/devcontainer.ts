import { posix } from 'node:path';
import { isObject, listOf, textOf } from '../../protocol/shape/read-unknown.ts';
import { isEnvironmentName } from './engine-environment.ts';
import { parseJsonWithComments } from './json-with-comments.ts';

/** The possible paths of a repository's devcontainer; the first that exists is used. */
const DEVCONTAINER_PATHS: readonly string[] = ['.devcontainer/devcontainer.json', '.devcontainer.json'];

/**
 * Reads the first devcontainer that exists, and the Dockerfile that it builds: texts by path, null for a Dockerfile that
 * cannot be read.
 */
export async function collectDevcontainer(
  read: (path: string) => Promise<string | null>,
): Promise<Readonly<Record<string, string | null>>> {
  for (const path of DEVCONTAINER_PATHS) {
    const text = await read(path);
    if (text === null) continue;
    const dockerfile = dockerfileOf(parseDevcontainer(path, text));
    return { [path]: text, ...(dockerfile === undefined ? {} : { [dockerfile]: await read(dockerfile) }) };
  }
  return {};
}

function dockerfileOf(parsed: ParsedDevcontainer): string | undefined {
  const source = parsed.ok ? parsed.devcontainer.source : null;
  return source !== null && 'build' in source ? source.build.dockerfile : undefined;
}

/** The devcontainer among collected texts; undefined if there is none that names an image or a build. */
export function findDevcontainer(texts: Readonly<Record<string, string | null>>): FoundDevcontainer | undefined {
  const path = DEVCONTAINER_PATHS.find((each) => typeof texts[each] === 'string');
  const parsed = path === undefined ? undefined : parseDevcontainer(path, texts[path] ?? '');
  if (parsed?.ok !== true || parsed.devcontainer.source === null) return undefined;
  return { ...parsed.devcontainer, dockerfile: texts[dockerfileOf(parsed) ?? ''] ?? null };
}

export interface FoundDevcontainer extends Devcontainer {
  /** The text of the Dockerfile. */
  readonly dockerfile: string | null;
}

interface Devcontainer {
  readonly source: { readonly image: string } | { readonly build: DevcontainerBuild } | null;
  readonly mounts: readonly DevcontainerMount[];
  /** May contain variables; see `fillVariables`. */
  readonly remoteEnv: Readonly<Record<string, string>>;
  /** Settings that are ignored, in plain sentences. */
  readonly notes: readonly string[];
}

export interface DevcontainerBuild {
  /** A path relative to the project. */
  readonly dockerfile: string;
  readonly context: string;
  readonly args: Readonly<Record<string, string>>;
  readonly target: string | null;
}

export interface DevcontainerMount {
  readonly type: 'bind' | 'volume' | 'tmpfs';
  readonly source: string;
  readonly target: string;
  readonly isReadOnly: boolean;
}

export type ParsedDevcontainer =
  | { readonly ok: true; readonly devcontainer: Devcontainer }
  | { readonly ok: false; readonly reason: string };

/**
 * Parses a devcontainer. `text` must come from the main branch: an agent that could choose its image, build or mounts
 * would choose its own sandbox. `path` is relative to the project.
 */
export function parseDevcontainer(path: string, text: string): ParsedDevcontainer {
  const value = parseJsonWithComments(text);
  if (!isObject(value)) return { ok: false, reason: `${path} is not JSON` };
  const notes: string[] = [];
  const source = sourceOf(value, posix.dirname(path));
  if (typeof source === 'string') return { ok: false, reason: `${path}: ${source}` };
  const mounts = listOf(value['mounts']).flatMap((entry) => {
    const mount = parseMount(entry);
    if (mount === undefined) notes.push(`${path}: a mount that is not understood is ignored: ${JSON.stringify(entry)}`);
    return mount ?? [];
  });
  const ignored = Object.keys(value).filter((key) => !USED.has(key));
  if (ignored.length > 0) notes.push(`${path}: ignored: ${ignored.sort().join(', ')}`);
  return { ok: true, devcontainer: { source, mounts, remoteEnv: textsIn(value['remoteEnv']), notes } };
}

/** `name` and `$schema` have no effect anywhere, so they are not named as ignored. */
const USED: ReadonlySet<string> = new Set(['image', 'build', 'mounts', 'remoteEnv', 'name', '$schema']);

function sourceOf(value: Readonly<Record<string, unknown>>, folder: string): Devcontainer['source'] | string {
  const { image, build } = value;
  if (isObject(build)) {
    const dockerfile = insideProject(folder, textOf(build['dockerfile']) || 'Dockerfile');
    const context = insideProject(folder, textOf(build['context']) || '.');
    if (dockerfile === undefined || context === undefined) return 'build: a path leads out of the project';
    return { build: { dockerfile, context, args: textsIn(build['args']), target: textOf(build['target']) || null } };
  }
  if (image === undefined) return null;
  return isImageName(image) ? { image } : 'image: not the name of an image';
}

/** Refuses names that an engine could parse as an option. */
function isImageName(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9][\w.\-/:@]{0,400}$/.test(value);
}

function insideProject(folder: string, path: string): string | undefined {
  const joined = posix.normalize(posix.join(folder, path));
  return posix.isAbsolute(path) || joined === '..' || joined.startsWith('../') ? undefined : joined;
}

/** Parses a mount: an object, or `source=…,target=…,type=…,readonly`. */
function parseMount(entry: unknown): DevcontainerMount | undefined {
  const fields = typeof entry === 'string' ? fieldsOfWords(entry) : isObject(entry) ? entry : {};
  const text = (...names: readonly string[]): string => names.map((name) => textOf(fields[name])).find(Boolean) ?? '';
  const [type, source, target] = [
    text('type') || 'volume',
    text('source', 'src'),
    text('target', 'dst', 'destination'),
  ];
  if ((type !== 'bind' && type !== 'volume' && type !== 'tmpfs') || !posix.isAbsolute(target)) return undefined;
  if (type !== 'tmpfs' && source === '') return undefined;
  const isReadOnly = ['readonly', 'ro'].some((name) => fields[name] === true || fields[name] === 'true');
  return { type, source, target: posix.normalize(target), isReadOnly };
}

function fieldsOfWords(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(',').map((word): [string, string] => {
    const at = word.indexOf('=');
    return at < 0 ? [word.trim(), 'true'] : [word.slice(0, at).trim(), word.slice(at + 1).trim()];
  });
  return Object.fromEntries(pairs);
}

/** Skips `null`, which unsets a variable, because a new process has none to unset. */
function textsIn(value: unknown): Record<string, string> {
  const entries = isObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(
    entries.filter((pair): pair is [string, string] => typeof pair[1] === 'string' && isEnvironmentName(pair[0])),
  );
}
