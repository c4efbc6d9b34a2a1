import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderSeccomp } from './render-seccomp.ts';
import { ARCHITECTURES, type SeccompArch, SYSCALL_RULES } from './syscalls.ts';

type FilterOptions = Parameters<typeof renderSeccomp>[1];

interface Call {
  readonly arch: number;
  readonly number: number;
  readonly args: readonly bigint[];
}

/**
 * Interprets the part of classic BPF that seccomp allows, as the kernel does. Throws on a program that the kernel would
 * refuse.
 */
function run(program: Uint8Array, { arch, number, args }: Call): string {
  const data = new DataView(new ArrayBuffer(64));
  data.setInt32(0, number | 0, true);
  data.setUint32(4, arch, true);
  for (const [i, arg] of args.entries()) data.setBigUint64(16 + 8 * i, BigInt.asUintN(64, arg), true);
  const code = new DataView(program.buffer);
  let accumulator = 0;
  for (let at = 0; at * 8 < program.length; at++) {
    const [op, then, otherwise, value] = [
      code.getUint16(at * 8, true),
      code.getUint8(at * 8 + 2),
      code.getUint8(at * 8 + 3),
      code.getUint32(at * 8 + 4, true),
    ];
    const jump = (isTrue: boolean): void => void (at += isTrue ? then : otherwise);
    if (op === 0x20) accumulator = data.getUint32(value, true);
    else if (op === 0x15) jump(accumulator === value);
    else if (op === 0x35) jump(accumulator >= value);
    else if (op === 0x45) jump((accumulator & value) !== 0);
    else if (op === 0x06) return nameOf(value);
    else throw new Error(`unknown instruction ${op}`);
  }
  throw new Error('the program ends without a result');
}

function nameOf(value: number): string {
  const names: Readonly<Record<number, string>> = {
    0x7fff0000: 'allow',
    0x80000000: 'kill',
    0x50001: 'EPERM',
    0x50026: 'ENOSYS',
  };
  return names[value] ?? `unknown ${value}`;
}

/** The expected result by the rules in the table. */
function expected(arch: SeccompArch, { nested, refusesTracing }: FilterOptions, { number, args }: Call): string {
  if (number >>> 0 >= 0x40000000) return 'ENOSYS';
  const rule = SYSCALL_RULES.find((each) => each.number[arch] === number);
  if ((rule?.isForNested === true && nested) || (rule?.isForJudges === true && refusesTracing !== true)) return 'allow';
  if (rule === undefined) return 'allow';
  const isMeant = (rule.when ?? []).every((condition) => {
    const low = Number(BigInt.asUintN(32, args[condition.argument] ?? 0n));
    return 'bits' in condition ? (low & condition.bits) !== 0 : condition.values.includes(low);
  });
  return isMeant ? rule.errno : 'allow';
}

const options: readonly FilterOptions[] = [
  { nested: true },
  { nested: false },
  { nested: false, refusesTracing: true },
];
const filters = (['x64', 'arm64'] as const).flatMap((arch) => options.map((each) => [arch, each] as const));
const known = (arch: SeccompArch) => fc.constantFrom(...SYSCALL_RULES.flatMap(({ number }) => number[arch] ?? []));
const argument = fc.oneof(
  fc.constantFrom(
    0x5412n,
    0x541cn,
    0x1_0000_5412n,
    0x5413n,
    0x10000000n,
    0x7e020011n,
    0o4755n,
    0o755n,
    0x241n,
    0o6000n,
    0xffff_ffff_0000_0000n,
  ),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
);

describe.each(filters)('the filter for %s with %j', (arch, each) => {
  const program = renderSeccomp(arch, each) ?? new Uint8Array();

  it('decides about any call as the table does', () => {
    const numbers = fc.oneof(known(arch), fc.integer({ min: -5, max: 600 }), fc.integer());
    fc.assert(
      fc.property(numbers, fc.array(argument, { minLength: 6, maxLength: 6 }), (number, args) => {
        const call = { arch: ARCHITECTURES[arch], number, args };
        expect(run(program, call)).toBe(expected(arch, each, call));
      }),
      { numRuns: 2000 },
    );
  });

  it('kills programs of any other architecture', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.constantFrom(0x40000003, 0x40000028, ...Object.values(ARCHITECTURES)), fc.nat()),
        known(arch),
        (other, number) => {
          fc.pre(other !== ARCHITECTURES[arch]);
          expect(run(program, { arch: other, number, args: [] })).toBe('kill');
        },
      ),
    );
  });

  it('is a program that the kernel accepts', () => {
    expect(program.length % 8).toBe(0);
    expect(program.length / 8).toBeLessThan(255);
  });
});

it('looks at the low half of an argument only', () => {
  const program = renderSeccomp('x64', { nested: false }) ?? new Uint8Array();
  const ioctl = (request: bigint) => run(program, { arch: ARCHITECTURES.x64, number: 16, args: [0n, request] });
  expect(ioctl(0x5412n)).toBe('EPERM');
  expect(ioctl(0xdead_beef_0000_5412n)).toBe('EPERM');
  expect(ioctl(0x5401n)).toBe('allow');
});

it('refuses the set-user-ID bit, and looks at the mode only if a file is made', () => {
  const program = renderSeccomp('x64', { nested: true }) ?? new Uint8Array();
  const decide = (number: number, ...args: readonly bigint[]) =>
    run(program, { arch: ARCHITECTURES.x64, number, args });
  expect(decide(90, 0n, 0o4755n)).toBe('EPERM');
  expect(decide(90, 0n, 0o2775n)).toBe('allow');
  expect(decide(257, 0n, 0n, 0x41n, 0o4755n)).toBe('EPERM');
  expect(decide(257, 0n, 0n, 0x41n, 0o755n)).toBe('allow');
  expect(decide(257, 0n, 0n, 0n, 0o4755n)).toBe('allow');
});

it('allows what a sandbox inside needs only if it is nested', () => {
  const decide = (nested: boolean, number: number, first = 0n) =>
    run(renderSeccomp('x64', { nested }) ?? new Uint8Array(), { arch: ARCHITECTURES.x64, number, args: [first] });
  const [mount, clone, clone3, ptrace, keyctl] = [165, 56, 435, 101, 250];
  expect([mount, clone, clone3, ptrace, keyctl].map((number) => decide(true, number, 0x10000000n))).toEqual([
    'allow',
    'allow',
    'allow',
    'allow',
    'EPERM',
  ]);
  expect([mount, clone, clone3, ptrace, keyctl].map((number) => decide(false, number, 0x10000000n))).toEqual([
    'EPERM',
    'EPERM',
    'ENOSYS',
    'allow',
    'EPERM',
  ]);
  expect(decide(false, clone, 0x01200011n)).toBe('allow');
});

it('refuses a session that judges what reads the processes of its client', () => {
  const decide = (each: FilterOptions, number: number) =>
    run(renderSeccomp('x64', each) ?? new Uint8Array(), { arch: ARCHITECTURES.x64, number, args: [] });
  for (const call of [101, 310, 311, 438]) {
    expect(decide({ nested: false, refusesTracing: true }, call)).toBe('EPERM');
    expect(decide({ nested: false }, call)).toBe('allow');
  }
});

it('has no filter for other processors', () => {
  expect(renderSeccomp('ppc64', { nested: false })).toBeUndefined();
});

it('has each call once', () => {
  for (const arch of ['x64', 'arm64'] as const) {
    const numbers = SYSCALL_RULES.flatMap(({ number }) => number[arch] ?? []);
    expect(numbers).toEqual([...new Set(numbers)]);
  }
});
