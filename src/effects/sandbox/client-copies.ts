import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import type { ClientFiles } from '../../agents/adapter.ts';
import { writeBelow } from '../../api/write-below.ts';
import type { CredentialFile, Mount } from '../../protocol/sandbox.ts';
import { fieldsInJson } from '../../protocol/shape/read-unknown.ts';
import { readMachine } from '../../sandbox/machine.ts';
import { homeInside } from '../../sandbox/plan/home-rules.ts';
import type { Machine } from '../../sandbox/plan/machine.ts';
import { joinPath } from '../../sandbox/plan/paths.ts';
import { realPathOf } from '../../sandbox/plan/place.ts';

export interface ClientCopies {
  readonly mounts: readonly Mount[];
  readonly credentials: readonly CredentialFile[];
}

/**
 * Copies the client's configuration for a session, one folder of Baton for each folder of the user. The session sees
 * the copies at the usual paths. They last for all processes of the session, with the conversations that the client
 * keeps there; a login is copied again at each start.
 * Files directly in HOME go to the session's own home folder.
 */
export function copyClientFiles(
  { copied: files, read = [] }: Pick<ClientFiles, 'copied' | 'read'>,
  { folder, home, privateHome }: { readonly folder: string; readonly home: string; readonly privateHome: string },
): ClientCopies {
  const folders = [...new Set(files.map(({ path }) => dirname(path)))].filter((each) => each !== home);
  const inside = insideHome(readMachine({ HOME: home }));
  const placeOf = (path: string): string =>
    path === home ? privateHome : join(folder, `client-${folders.indexOf(path)}`);
  for (const each of [home, ...folders]) mkdirSync(placeOf(each), { recursive: true, mode: 0o700 });
  const credentials: CredentialFile[] = [];
  for (const { path, isCredential, edit } of files) {
    const copy = join(placeOf(dirname(path)), basename(path));
    const text = readText(path);
    if (isCredential === true)
      credentials.push({
        original: path,
        copy,
        digest: text === undefined ? null : createHash('sha256').update(text).digest('hex'),
        format: extname(path) === '.json' ? 'json' : 'text',
      });
    if (text === undefined || (existsSync(copy) && isCredential !== true)) continue;
    writeBelow(dirname(copy), basename(copy), edit === undefined ? text : JSON.stringify(edit(fieldsInJson(text))));
  }
  return {
    mounts: [
      ...folders.map((path) => ({ kind: 'write', at: inside(path), from: placeOf(path) }) as const),
      ...read
        .filter((path) => existsSync(path))
        .map((path) => ({ kind: 'read', at: inside(path), from: path }) as const),
    ],
    credentials,
  };
}

/** A mount cannot be made through a link, so if HOME is a link, its paths are resolved. */
function insideHome(machine: Machine): (path: string) => string {
  const { home } = machine;
  const real = realPathOf(machine, homeInside(machine));
  return (path) => (path.startsWith(home === '/' ? '/.' : `${home}/`) ? joinPath(real, path.slice(home.length)) : path);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
