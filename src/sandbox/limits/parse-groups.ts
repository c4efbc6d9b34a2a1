export interface GroupMount {
  readonly at: string;
  /** The group that is mounted there. */
  readonly root: string;
  /** The controllers of version 1, or an empty name for version 2. */
  readonly controllers: readonly string[];
}

/** The mounts of control groups in `/proc/self/mountinfo`. */
export function parseGroupMounts(mountinfo: string): GroupMount[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const [, , , root = '', at = ''] = before.split(' ').map(decode);
    const [type, , options = ''] = after.split(' ');
    if (type === 'cgroup2') return [{ at, root, controllers: [''] }];
    return type === 'cgroup' ? [{ at, root, controllers: options.split(',') }] : [];
  });
}

/** The group of this process for each controller, from `/proc/self/cgroup`; an empty name for version 2. */
export function parseOwnGroups(cgroup: string): ReadonlyMap<string, string> {
  return new Map(
    cgroup.split('\n').flatMap((line) => {
      const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
      if (controllers === undefined || path === undefined) return [];
      return controllers.split(',').map((controller) => [controller, path] as const);
    }),
  );
}

/** Spaces and backslashes are written as octal numbers. */
function decode(field: string): string {
  return field.replace(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
