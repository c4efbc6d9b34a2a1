import type { CommandSpec, Layer, Mount, SandboxSpec } from '../../protocol/sandbox.ts';
import { uppersOf } from './layer-paths.ts';
import type { Machine } from './machine.ts';
import { isInside, joinPath } from './paths.ts';

export interface CommandFolders {
  /** What belongs to this command or to its task alone: the checkout or worktree, the git directory, the run's folder. */
  readonly own: readonly string[];
  /** The folder for layers, which is part of the run's folder. */
  readonly layers: string;
  readonly how: Layer['how'];
}

/**
 * Makes the sandbox of a command of the project: nothing that it writes outside its own folders is seen by another
 * process. A folder of `sandbox.write` becomes a layer over itself, or read-only if it would have to be copied. Devices
 * and sockets stay, because they keep nothing.
 */
export function planCommandWrites(
  spec: SandboxSpec,
  { own, layers: folder, how }: CommandFolders,
  { find }: Pick<Machine, 'find'>,
): CommandSpec {
  const layers: Layer[] = [...spec.layers];
  const notes: string[] = [];
  const drop = (mount: Mount): Mount => {
    if (mount.kind !== 'write' || own.some((path) => isInside(mount.from, path))) return mount;
    const { at, from } = mount;
    const kind = find(from)?.kind;
    if (kind === 'other') return mount;
    if (kind === 'folder' && how === 'overlay') {
      const layer: Layer = { folder: joinPath(folder, `write-${layers.length}`), lowers: [from], how };
      layers.push(layer);
      return { kind: 'write', at, from: layer.folder };
    }
    notes.push(`sandbox.write: ${at} is read-only for commands of the project.`);
    return { kind: 'read', at, from };
  };
  const [system, mounts] = [spec.system.map(drop), spec.mounts.map(drop)];
  const uppers = uppersOf(layers);
  return {
    ...spec,
    system,
    mounts,
    layers,
    measured: [...spec.measured, ...uppers],
    container: spec.container && { ...spec.container, args: spec.container.args.map(withoutVolumeName) },
    notes: [...spec.notes, ...notes],
    dropsWrites: true,
  };
}

/** The engine removes a volume without a name with its container. */
function withoutVolumeName(word: string): string {
  return word.replace(/^type=volume,source=[^,]+/, 'type=volume');
}
