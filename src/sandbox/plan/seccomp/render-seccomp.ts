import {
  ARCHITECTURES,
  type Condition,
  ERRNOS,
  type SeccompArch,
  SYSCALL_RULES,
  type SyscallRule,
} from './syscalls.ts';

/**
 * Renders a filter in classic BPF (`struct sock_filter`, little-endian), as `bwrap --seccomp` reads it. Undefined for
 * other processors.
 */
export function renderSeccomp(
  arch: string,
  { nested, refusesTracing }: { readonly nested: boolean; readonly refusesTracing?: true },
): Uint8Array | undefined {
  if (arch !== 'x64' && arch !== 'arm64') return undefined;
  const rules = SYSCALL_RULES.filter(
    ({ isForNested, isForJudges }) =>
      !(nested && isForNested === true) && (isForJudges !== true || refusesTracing === true),
  );
  return encode([
    { op: LOAD, value: OFFSET_ARCH },
    // Programs of another architecture have other numbers for the same calls, so they are killed.
    { op: JUMP_IF_EQUAL, value: ARCHITECTURES[arch], ifFalse: 'kill' },
    { op: LOAD, value: OFFSET_NUMBER },
    { op: JUMP_IF_AT_LEAST, value: FIRST_X32_NUMBER, ifTrue: 'ENOSYS' },
    ...rules.flatMap((rule) => renderRule(rule, arch)),
    { op: RETURN, value: RET_ALLOW, label: 'allow' },
    { op: RETURN, value: RET_ERRNO | ERRNOS.EPERM, label: 'EPERM' },
    { op: RETURN, value: RET_ERRNO | ERRNOS.ENOSYS, label: 'ENOSYS' },
    { op: RETURN, value: RET_KILL_PROCESS, label: 'kill' },
  ]);
}

interface Instruction {
  readonly op: number;
  readonly value: number;
  readonly label?: string;
  /** A label, or the number of instructions to skip; the next instruction if absent. */
  readonly ifTrue?: string | number;
  readonly ifFalse?: string | number;
}

function renderRule({ number, errno, when = [] }: SyscallRule, arch: SeccompArch): Instruction[] {
  const value = number[arch];
  if (value === null) return [];
  if (when.length === 0) return [{ op: JUMP_IF_EQUAL, value, ifTrue: errno }];
  const tests = when.flatMap((condition, i) => renderCondition(condition, i === when.length - 1 ? errno : 0));
  return [{ op: JUMP_IF_EQUAL, value, ifFalse: tests.length }, ...tests];
}

/** `ifTrue`: a result, or 0 to continue with the next condition. */
function renderCondition(condition: Condition, ifTrue: string | number): Instruction[] {
  // The kernel uses only the low half of these arguments, so the filter ignores the high half.
  const load = { op: LOAD, value: OFFSET_ARGUMENTS + 8 * condition.argument };
  if ('bits' in condition) return [load, { op: JUMP_IF_ANY_BIT, value: condition.bits, ifTrue, ifFalse: 'allow' }];
  const { values } = condition;
  return [
    load,
    ...values.map((value, i) => {
      const rest = values.length - 1 - i;
      return { op: JUMP_IF_EQUAL, value, ifTrue: ifTrue === 0 ? rest : ifTrue, ifFalse: rest === 0 ? 'allow' : 0 };
    }),
  ];
}

function encode(program: readonly Instruction[]): Uint8Array {
  const bytes = new Uint8Array(program.length * 8);
  const view = new DataView(bytes.buffer);
  const distance = (from: number, to: string | number | undefined): number => {
    if (typeof to !== 'string') return to ?? 0;
    return program.findIndex(({ label }) => label === to) - from - 1;
  };
  for (const [i, { op, value, ifTrue, ifFalse }] of program.entries()) {
    view.setUint16(i * 8, op, true);
    view.setUint8(i * 8 + 2, distance(i, ifTrue));
    view.setUint8(i * 8 + 3, distance(i, ifFalse));
    view.setUint32(i * 8 + 4, value, true);
  }
  return bytes;
}

const LOAD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const JUMP_IF_ANY_BIT = 0x45;
const RETURN = 0x06;

/** Offsets in the kernel's `struct seccomp_data`. */
const OFFSET_NUMBER = 0;
const OFFSET_ARCH = 4;
const OFFSET_ARGUMENTS = 16;

const RET_ALLOW = 0x7fff0000;
const RET_ERRNO = 0x00050000;
const RET_KILL_PROCESS = 0x80000000;

/** x64 kernels also accept the numbers of the x32 interface, which have this bit. */
const FIRST_X32_NUMBER = 0x40000000;
