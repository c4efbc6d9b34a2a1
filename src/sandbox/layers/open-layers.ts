import { execFile, execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { removeTree } from '../../api/remove-tree.ts';
import type { Environment } from '../../protocol/environment.ts';
import type { Layer } from '../../protocol/sandbox.ts';
import { partsOf, upperOf } from '../plan/layer-paths.ts';
import { findSystemProgram } from '../system-program.ts';
import { isRoot } from '../user/agent-user.ts';

export interface OpenLayers {
  /** A command that mounts the overlays and runs another one; empty if there are none. */
  readonly enter: readonly string[];
  readonly notes: readonly string[];
  close(): void;
}

/**
 * Makes the folders of a process whose changes are dropped. An overlay is mounted by the command `enter`, in the mount
 * namespace of the process: it ends with the process, even if this program is killed.
 */
export async function openLayers(layers: readonly Layer[], env: Environment): Promise<OpenLayers> {
  const notes: string[] = [];
  for (const layer of layers) {
    removeLayer(layer.folder);
    mkdirSync(layer.folder, { recursive: true, mode: 0o700 });
    if (layer.how === 'overlay') makeOverlay(layer);
    else notes.push(...(await copyLowers(layer)));
  }
  const overlays = layers.flatMap(({ how, folder }) => (how === 'overlay' ? [folder] : []));
  return {
    enter: overlays.length === 0 ? [] : [...enterOverlays(env), ...overlays, '--'],
    notes,
    close: () => layers.forEach(closeLayer),
  };
}

/** A kept layer has its name only when it is complete. */
function closeLayer({ folder, keptIn }: Layer): void {
  if (keptIn === undefined) {
    removeLayer(folder);
    return;
  }
  removeLayer(keptIn);
  mkdirSync(dirname(keptIn), { recursive: true, mode: 0o700 });
  moveTree(folder, keptIn);
  if (existsSync(partsOf(folder))) moveTree(partsOf(folder), partsOf(keptIn));
}

/** In mode `user` the layer may be on another disk. */
function moveTree(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EXDEV')) throw error;
    execFileSync('cp', [...COPY, '--', from, to]);
    removeTree(from);
  }
}

/**
 * Removes what a layer wrote. Its name is free afterwards even if the process left a tree that cannot be removed: the
 * tree goes with the folder of the run.
 */
export function removeLayer(folder: string): void {
  for (const path of [folder, partsOf(folder)]) {
    const aside = `${path}.${randomUUID()}`;
    try {
      renameSync(path, aside);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') continue;
      throw error;
    }
    try {
      removeTree(aside);
    } catch {
      // Nothing reads it.
    }
  }
}

/** The links have short names, because the options of a mount have no way to write a comma or a colon. */
function makeOverlay({ folder, lowers }: Layer): void {
  const parts = partsOf(folder);
  for (const path of [upperOf(folder), join(parts, 'work')]) mkdirSync(path, { recursive: true, mode: 0o700 });
  for (const [i, lower] of lowers.filter(existsSync).entries())
    symlinkSync(lower, join(parts, `${LOWER}${String(i).padStart(4, '0')}`));
}

const LOWER = 'lower-';

/**
 * `userxattr` works in a user namespace and as root. `volatile` leaves out the writing to disk: nothing of the layer
 * outlives a crash.
 */
const MOUNT = [
  'mount=$1; shift',
  'while [ "$1" != -- ]; do',
  `  ( cd "$1.overlay" && set -- "$1" ${LOWER}* && folder=$1 && shift && lowers=$1 && shift`,
  '    for lower; do lowers=$lowers:$lower; done',
  '    exec "$mount" -t overlay overlay -o "userxattr,volatile,lowerdir=$lowers,upperdir=upper,workdir=work" "$folder" ) || exit 125',
  '  shift',
  'done',
  'shift; exec "$@"',
].join('\n');

function enterOverlays(env: Environment): readonly string[] {
  const find = (name: string): string => findSystemProgram(name, env) ?? name;
  // Only root of a user namespace may mount. Bubblewrap gives the process its own user id again.
  const user = isRoot() ? [] : ['--user', '--map-root-user'];
  return [find('unshare'), ...user, '--mount', '/bin/sh', '-c', MOUNT, 'sh', find('mount')];
}

/** Copies from the lowest folder to the topmost. A copy shares no file: a second name of a file would be no copy. */
async function copyLowers({ folder, lowers }: Layer): Promise<readonly string[]> {
  const notes: string[] = [];
  for (const lower of lowers.filter(existsSync).toReversed()) {
    const failure = await copyTree(lower, folder);
    if (failure !== undefined) notes.push(`A folder that the process starts with is incomplete: ${failure}`);
  }
  return notes;
}

/** The program copies twenty thousand files in a second; Node takes ten. */
async function copyTree(from: string, to: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile('cp', [...COPY, '--', `${from}/.`, to], (error, _, stderr) =>
      resolve(error === null ? undefined : stderr.trim().split('\n')[0] || error.message),
    );
  });
}

const COPY = process.platform === 'darwin' ? ['-cpR'] : ['-a', '--reflink=auto'];
