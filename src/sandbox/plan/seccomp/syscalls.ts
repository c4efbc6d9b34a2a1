/** System calls that are refused to a session, with their numbers on x64 and arm64. */
export interface SyscallRule {
  readonly name: string;
  /** Null if a newer architecture lacks the call, because others replace it. */
  readonly number: Readonly<Record<SeccompArch, number | null>>;
  /** ENOSYS makes libraries fall back to an older call. */
  readonly errno: 'EPERM' | 'ENOSYS';
  readonly why: string;
  /** Refused only if all of these hold. */
  readonly when?: readonly Condition[];
  /** Allowed with `sandbox.nested`: the session may then create namespaces, in which these calls affect only itself. */
  readonly isForNested?: boolean;
  /** Refused only in a session that judges. */
  readonly isForJudges?: boolean;
}

/** The condition that an argument has one of the values, or one of the bits. */
export type Condition = { readonly argument: number } & (
  | { readonly values: readonly number[] }
  | { readonly bits: number }
);

export type SeccompArch = 'x64' | 'arm64';

export const ARCHITECTURES: Readonly<Record<SeccompArch, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };
export const ERRNOS = { EPERM: 1, ENOSYS: 38 } as const;

const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const AF_VSOCK = 40;
const CLONE_NEWUSER = 0x10000000;
const S_ISUID = 0o4000;
const O_CREAT_OR_TMPFILE = 0x400040;

const KEYS = 'keys of the user are not part of any namespace';
const KERNEL = 'it changes or inspects the kernel';
const MOUNT = 'it could uncover what a mount hides';
const JUDGE = "code under judgement could read or change the judge's client";
const NAMESPACE = 'a new user namespace brings capabilities that mounts and the network do not expect';

export const SYSCALL_RULES: readonly SyscallRule[] = [
  refuse('add_key', 248, 217, KEYS),
  refuse('request_key', 249, 218, KEYS),
  refuse('keyctl', 250, 219, KEYS),
  refuse('bpf', 321, 280, KERNEL),
  refuse('perf_event_open', 298, 241, KERNEL),
  refuse('kexec_load', 246, 104, KERNEL),
  refuse('kexec_file_load', 320, 294, KERNEL),
  refuse('init_module', 175, 105, KERNEL),
  refuse('finit_module', 313, 273, KERNEL),
  refuse('delete_module', 176, 106, KERNEL),
  refuse('userfaultfd', 323, 282, KERNEL),
  // io_uring makes none of the calls in this table now, but later versions may, and a filter does not see what a ring
  // does.
  { ...refuse('io_uring_setup', 425, 425, 'a filter does not see what a ring does'), errno: 'ENOSYS' },
  refuse('open_by_handle_at', 304, 265, 'it opens files by number, outside of all mounts'),
  {
    ...refuse('ioctl', 16, 29, 'it types into the terminal of the person'),
    when: [{ argument: 1, values: [TIOCSTI, TIOCLINUX] }],
  },
  {
    ...refuse(
      'socket',
      41,
      198,
      'these sockets reach the host of a virtual machine, or services here, from any network namespace',
    ),
    when: [{ argument: 0, values: [AF_VSOCK] }],
  },
  ofMode('chmod', 90, null, 1),
  ofMode('fchmod', 91, 52, 1),
  ofMode('fchmodat', 268, 53, 2),
  ofMode('fchmodat2', 452, 452, 2),
  ofMode('creat', 85, null, 1),
  ofMode('mknod', 133, null, 1),
  ofMode('mknodat', 259, 33, 2),
  ofMode('open', 2, null, 2, { argument: 1, bits: O_CREAT_OR_TMPFILE }),
  ofMode('openat', 257, 56, 3, { argument: 2, bits: O_CREAT_OR_TMPFILE }),
  { ...refuse('openat2', 437, 437, 'its mode is in memory, which a filter cannot read'), errno: 'ENOSYS' },
  ofNamespaces('mount', 165, 40, MOUNT),
  ofNamespaces('umount2', 166, 39, MOUNT),
  ofNamespaces('pivot_root', 155, 41, MOUNT),
  ofNamespaces('open_tree', 428, 428, MOUNT),
  ofNamespaces('move_mount', 429, 429, MOUNT),
  ofNamespaces('fsopen', 430, 430, MOUNT),
  ofNamespaces('fsconfig', 431, 431, MOUNT),
  ofNamespaces('fsmount', 432, 432, MOUNT),
  ofNamespaces('fspick', 433, 433, MOUNT),
  ofNamespaces('mount_setattr', 442, 442, MOUNT),
  ofNamespaces('open_tree_attr', 467, 467, MOUNT),
  ofNamespaces('setns', 308, 268, NAMESPACE),
  { ...ofNamespaces('unshare', 272, 97, NAMESPACE), when: [{ argument: 0, bits: CLONE_NEWUSER }] },
  { ...ofNamespaces('clone', 56, 220, NAMESPACE), when: [{ argument: 0, bits: CLONE_NEWUSER }] },
  // Its flags are in memory, which a filter cannot read.
  { ...ofNamespaces('clone3', 435, 435, NAMESPACE), errno: 'ENOSYS' },
  ofJudges('ptrace', 101, 117),
  ofJudges('process_vm_readv', 310, 270),
  ofJudges('process_vm_writev', 311, 271),
  ofJudges('pidfd_getfd', 438, 438),
  ofJudges('kcmp', 312, 272),
];

function refuse(name: string, x64: number, arm64: number | null, why: string): SyscallRule {
  return { name, number: { x64, arm64 }, errno: 'EPERM', why };
}

function ofNamespaces(name: string, x64: number, arm64: number, why: string): SyscallRule {
  return { ...refuse(name, x64, arm64, why), isForNested: true };
}

function ofJudges(name: string, x64: number, arm64: number): SyscallRule {
  return { ...refuse(name, x64, arm64, JUDGE), isForJudges: true };
}

/** A program with this bit would run with its owner's rights outside the sandbox, as root if Baton is root. */
function ofMode(name: string, x64: number, arm64: number | null, argument: number, ...also: Condition[]): SyscallRule {
  const why = 'a program with the set-user-ID bit would have your rights outside of the sandbox';
  return { ...refuse(name, x64, arm64, why), when: [...also, { argument, bits: S_ISUID }] };
}
