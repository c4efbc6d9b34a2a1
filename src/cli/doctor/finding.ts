import type { ClientName, Scope } from '../../hooks/client.ts';
import { choice, flag, list, nullable, object, text } from '../../protocol/shape/build-shape.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';

const STATUSES = ['ok', 'warning', 'problem'] as const;
type FindingStatus = (typeof STATUSES)[number];

const finding = object({
  code: { ...text, about: 'The check, a dot and the kind of finding, as in docs/doctor.md. Codes do not change.' },
  name: { ...text, about: 'The subject: the check, or one client, sandbox or hook.' },
  status: choice(STATUSES),
  detail: { ...text, about: 'What the check found.' },
  fix: { ...nullable(text), about: 'A command or a sentence. Null only if the status is `ok`.' },
});
/** One finding of `baton doctor`. */
export type Finding = ValueOf<typeof finding>;

const fixedFinding = object({
  code: { ...text, about: 'The code of the corrected finding.' },
  ok: { ...flag, about: 'The correction worked.' },
  detail: { ...text, about: 'What was done, or why it failed.' },
});
export type FixedFinding = ValueOf<typeof fixedFinding>;

/** The output of `baton doctor --json`. */
export const doctorReport = object({
  ok: { ...flag, about: 'False if a finding is a problem, or the proof failed.' },
  findings: list(finding),
  fixed: { ...list(fixedFinding), about: 'What `--fix` did, in order; empty without it.' },
});
export type DoctorReport = ValueOf<typeof doctorReport>;

/** A finding that `--fix` can correct. */
export interface Diagnosis extends Finding {
  readonly repair?: Repair;
}

/** A safe correction, as data. `repair.ts` applies it. */
export type Repair =
  | { readonly kind: 'make-private'; readonly path: string; readonly mode: number }
  | { readonly kind: 'remove-stale-daemon' }
  | { readonly kind: 'install-hooks'; readonly client: ClientName; readonly scope: Scope }
  | { readonly kind: 'remove-hooks-of-deleted'; readonly client: ClientName }
  | { readonly kind: 'restore-hooks' }
  | { readonly kind: 'set-up-agent-user' }
  | { readonly kind: 'forget-worktree'; readonly path: string }
  | { readonly kind: 'write-service' };

interface FindingKind {
  readonly status: FindingStatus;
  /** The meaning of the finding, for docs/doctor.md. */
  readonly means: string;
  /** What `--fix` does about it, for docs/doctor.md. */
  readonly repaired?: string;
}

type Kinds = Readonly<Record<string, FindingKind>>;

type Details<K extends FindingKind> = K['status'] extends 'ok'
  ? { readonly detail: string; readonly name?: string }
  : { readonly detail: string; readonly name?: string; readonly fix: string; readonly repair?: Repair | undefined };

/** A check, with all its possible findings. */
export interface Check<K extends Kinds = Kinds> {
  readonly name: string;
  readonly about: string;
  readonly kinds: K;
  /** Only findings of status `ok` have no fix. */
  readonly found: <C extends keyof K & string>(code: C, details: Details<K[C]>) => Diagnosis;
}

export function defineCheck<const K extends Kinds>(name: string, about: string, kinds: K): Check<K> {
  const found = <C extends keyof K & string>(code: C, details: Details<K[C]>): Diagnosis => {
    const { fix, repair, detail, name: subject }: LooseDetails = details;
    const status = kinds[code]?.status ?? 'problem';
    const finding: Finding = { code: `${name}.${code}`, name: subject ?? name, status, detail, fix: fix ?? null };
    return repair === undefined ? finding : { ...finding, repair };
  };
  return { name, about, kinds, found };
}

interface LooseDetails {
  readonly detail: string;
  readonly name?: string;
  readonly fix?: string;
  readonly repair?: Repair | undefined;
}

export function warning<const M extends string>(means: M, repaired?: string) {
  return { status: 'warning', means, ...(repaired === undefined ? {} : { repaired }) } as const;
}

export function problem<const M extends string>(means: M, repaired?: string) {
  return { status: 'problem', means, ...(repaired === undefined ? {} : { repaired }) } as const;
}

export function ok<const M extends string>(means: M) {
  return { status: 'ok', means } as const;
}
