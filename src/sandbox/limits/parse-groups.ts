export interface GroupMount {
  readonly at: string;
  /** The group that is mounted at this path. */
  readonly root: string;
  /** The controllers of version 1, or an empty name for version 2. */
  readonly controllers: readonly string[];
}

/** Parses the mounts of control groups in `/proc/self/mountinfo`. */
export function parseGroupMounts(mountinfo: string): GroupMount[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const [, , , root = '', at = ''] = before.split(' ').map(decode);
    const [type, , options = ''] = after.split(' ');
    if (type === 'cgroup2') return [{ at, root, controllers: [''] }];
    return type === 'cgroup' ? [{ at, root, controllers: options.split(',') }] : [];
  });
}

/** Parses this process's group for each controller from `/proc/self/cgroup`; the name is empty for version 2. */
export function parseOwnGroups(cgroup: string): ReadonlyMap<string, string> {
  return new Map(
    cgroup.split('\n').flatMap((line) => {
      const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
      if (controllers === undefined || path === undefined) return [];
      return controllers.split(',').map((controller) => [controller, path] as const);
    }),
  );
}

/** Decodes spaces and backslashes, which are written as octal numbers. */
function decode(field: string): string {
  return field.replace(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
