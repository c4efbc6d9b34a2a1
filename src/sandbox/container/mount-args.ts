import type { ContainerEngine, Mount } from '../../protocol/sandbox.ts';

export interface MountOptions {
  readonly engine: ContainerEngine['name'];
  /** An empty file of the caller, mounted over masked files. */
  readonly emptyFile: string;
  /** Folders of this machine that are mount points; see `readMountPoints`. */
  readonly mountPoints: readonly string[];
  readonly scratchBytes: number;
}

/** The `--mount` arguments for a session's mounts. Symbolic links are omitted, because an engine cannot create them. */
export function mountArgs(mounts: readonly Mount[], options: MountOptions): readonly string[] {
  return visibleMounts(mounts)
    .flatMap((mount) => [mount, ...mountsBelow(mount, options.mountPoints)])
    .flatMap((mount) => {
      const fields = fieldsOf(mount, options);
      return fields === undefined ? [] : ['--mount', fields.map(quoteForCsv).join(',')];
    });
}

/** Engines sort mounts by path, so this removes each mount that a later one hides, at the same path or above. */
export function visibleMounts(mounts: readonly Mount[]): readonly Mount[] {
  return mounts.filter((mount, i) => !mounts.slice(i + 1).some(({ at }) => isAtOrBelow(mount.at, at)));
}

/** A read-only mount leaves file systems below it writable, so each of those is mounted separately. */
function mountsBelow(mount: Mount, mountPoints: readonly string[]): readonly Mount[] {
  if (mount.kind !== 'read') return [];
  const { at, from } = mount;
  return mountPoints
    .filter((path) => path !== from && isAtOrBelow(path, from))
    .map((path) => ({ kind: 'read', at: at + path.slice(from === '/' ? 0 : from.length), from: path }));
}

function isAtOrBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

function fieldsOf(mount: Mount, options: MountOptions): readonly string[] | undefined {
  const { engine, emptyFile, scratchBytes } = options;
  const bind = (from: string): string[] => ['type=bind', `source=${from}`, `target=${mount.at}`];
  // Otherwise podman copies the image's content at that path.
  const tmpfs = ['type=tmpfs', `target=${mount.at}`, ...(engine === 'podman' ? ['notmpcopyup'] : [])];
  switch (mount.kind) {
    case 'read':
      return [...bind(mount.from), 'ro=true'];
    case 'write':
      return bind(mount.from);
    case 'masked':
      return [...bind(emptyFile), 'ro=true'];
    case 'empty':
      return [...tmpfs, 'tmpfs-mode=0755', 'ro=true'];
    case 'scratch':
      return [...tmpfs, 'tmpfs-mode=1777', `tmpfs-size=${scratchBytes}`];
    case 'link':
      return undefined;
  }
}

/** Quotes a field, because engines parse the argument as a line of CSV. */
function quoteForCsv(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
