import { isObject, listOf, objectsOf } from '../../protocol/shape/read-unknown.ts';

/**
 * Podman's default profile allows keyctl, user namespaces and mounts. This returns the profile with the calls refused
 * that bubblewrap sessions are refused. Docker's default refuses them already. Undefined if the text is not a profile.
 */
export function tightenSeccomp(text: string, { nested }: { readonly nested: boolean }): string | undefined {
  const profile = parse(text);
  if (!isObject(profile) || !Array.isArray(profile['syscalls'])) return undefined;
  const refused = new Set<unknown>([
    ...ALWAYS_REFUSED,
    ...(nested ? [] : [...REFUSED_UNLESS_NESTED, 'clone', 'clone3']),
  ]);
  const kept = objectsOf(profile['syscalls'])
    .map((rule) => ({ ...rule, names: listOf(rule['names']).filter((name) => !refused.has(name)) }))
    .filter(({ names }) => names.length > 0);
  const added = [
    { names: ALWAYS_REFUSED, action: 'SCMP_ACT_ERRNO', errnoRet: EPERM },
    ...(nested ? [] : WITHOUT_NAMESPACES),
  ];
  return JSON.stringify({ ...profile, syscalls: [...kept, ...added] });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const EPERM = 1;
const ENOSYS = 38;

const ALWAYS_REFUSED: readonly string[] = [
  'keyctl',
  'add_key',
  'request_key',
  'bpf',
  'perf_event_open',
  'kexec_load',
  'kexec_file_load',
  'init_module',
  'finit_module',
  'delete_module',
  'open_by_handle_at',
  'userfaultfd',
];

const REFUSED_UNLESS_NESTED: readonly string[] = [
  'mount',
  'umount',
  'umount2',
  'move_mount',
  'mount_setattr',
  'open_tree',
  'fsopen',
  'fsconfig',
  'fsmount',
  'fspick',
  'pivot_root',
  'setns',
  'unshare',
];

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const NEW_NAMESPACES = 0x7e_02_00_00;

/** clone3 has its flags in memory, which a filter cannot read. If it is refused, the C library uses clone. */
const WITHOUT_NAMESPACES: readonly object[] = [
  { names: REFUSED_UNLESS_NESTED, action: 'SCMP_ACT_ERRNO', errnoRet: EPERM },
  {
    names: ['clone'],
    action: 'SCMP_ACT_ALLOW',
    args: [{ index: 0, value: NEW_NAMESPACES, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }],
  },
  { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
];
