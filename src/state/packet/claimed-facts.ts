import { parseHandoff } from '../../protocol/handoff/index.ts';
import { renderCountOf } from '../../protocol/text/text-format.ts';
import type { EventOf } from '../event.ts';
import { describeScalar } from './describe-message.ts';
import type { SessionAccount } from './session-account.ts';

/** A session's report about one fact, beside Baton's measurement. */
export interface ClaimedFact {
  readonly about: string;
  /** Null if the session reported nothing. */
  readonly said: string | null;
  /** Null if Baton does not measure it, or has not yet. */
  readonly measured: string | null;
  readonly differs: boolean;
}

type Measured = EventOf<'SessionMeasured'>['data'];

/** Lists only facts that were reported or measured. */
export function listClaimedFacts(account: SessionAccount): readonly ClaimedFact[] {
  const { measured } = account;
  const handoff = fieldsOfHandoff(account);
  return [
    ...compareOutcome(account),
    ...compareFiles(account),
    ...compareCount('files in the handoff', handoff['files_changed'], measured?.file_count),
    ...compareCount('commits', handoff['commits'] ?? handoff['commits_added'], measured?.commits),
    ...compareHead(account),
    ...compareTests(account, handoff),
    ...(measured === null ? [] : measuredAlone(measured)),
  ];
}

function compareOutcome({ exit, result, end }: SessionAccount): readonly ClaimedFact[] {
  if (exit !== null) {
    const { claimed_exit_reason: claimed, exit_reason } = exit;
    const said = claimed ?? exit_reason;
    return [{ about: 'outcome', said, measured: exit_reason, differs: said !== exit_reason }];
  }
  if (result === null) return [];
  return [{ about: 'outcome', said: result.status, measured: end?.how ?? null, differs: false }];
}

/**
 * Compares files. The result lists the session's files, or else the record does. A long list of measured files is cut,
 * so the counts are compared instead.
 */
function compareFiles({ result, record, measured }: SessionAccount): readonly ClaimedFact[] {
  const said = result?.files_modified.map(({ path }) => path) ?? record?.files_changed;
  if (said === undefined && (measured === null || measured.file_count === 0)) return [];
  const real = measured?.files.map(({ path }) => path) ?? [];
  const isCut = measured !== null && measured.file_count > real.length;
  const differs =
    measured !== null &&
    said !== undefined &&
    (isCut ? new Set(said).size !== measured.file_count : !isSameSet(said, real));
  return [
    {
      about: 'files',
      said: said === undefined ? null : describeFiles(said, said.length),
      measured: measured === null ? null : describeFiles(real, measured.file_count),
      differs,
    },
  ];
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return new Set(one).symmetricDifference(new Set(other)).size === 0;
}

function describeFiles(paths: readonly string[], count: number): string {
  const named = paths.slice(0, MOST_NAMED).join(', ');
  const rest = count - Math.min(paths.length, MOST_NAMED);
  return `${renderCountOf(count, 'file')}${named === '' ? '' : `: ${named}`}${rest > 0 ? ` and ${rest} more` : ''}`;
}

const MOST_NAMED = 50;

/** Compares counts. A list in a handoff counts by its length. */
function compareCount(about: string, value: unknown, measured: number | undefined): readonly ClaimedFact[] {
  if (value === undefined) return [];
  const said = Array.isArray(value) ? String(value.length) : describeScalar(value);
  const real = measured === undefined ? null : String(measured);
  return [{ about, said, measured: real, differs: real !== null && said !== real }];
}

function compareHead({ record, measured }: SessionAccount): readonly ClaimedFact[] {
  if (record === null) return [];
  const [said, real] = [record.commit_sha.toLowerCase(), measured?.head ?? null];
  return [{ about: 'commit', said, measured: real, differs: real !== null && said !== real }];
}

/** Compares the session's report of its tests with Baton's own checks of the commit. */
function compareTests({ record, evidence, checks }: SessionAccount, handoff: Fields): readonly ClaimedFact[] {
  const words = [
    ...(record?.tests_run ?? []),
    ...(evidence?.commands ?? []).map(({ run, exit_code }) => `${run} (exit code ${exit_code})`),
    ...['tests_added', 'coverage'].flatMap((name) =>
      handoff[name] === undefined ? [] : [`${name} ${describeScalar(handoff[name])}`],
    ),
  ];
  const real = checks.map(({ name, outcome, exit_code }) => {
    const code = outcome === 'failed' && exit_code !== null ? ` (exit code ${exit_code})` : '';
    return `${name} ${outcome}${code}`;
  });
  if (words.length + real.length === 0) return [];
  const differs = words.length > 0 && checks.some(({ outcome }) => outcome === 'failed');
  return [{ about: 'tests', said: joined(words), measured: joined(real), differs }];
}

const COMPARED = ['files_modified', 'no_new_deps'];

/** Measured facts that no message reports. A violation is a difference from the mission. */
function measuredAlone({ new_dependencies, violations, broken }: Measured): readonly ClaimedFact[] {
  const added = joined(new_dependencies);
  // Files and dependencies are compared above. Baton wrote these texts, each starting with its kind.
  const rules = violations.filter((violation) => !COMPARED.some((kind) => violation.startsWith(`${kind}: `)));
  return [
    ...(added === null
      ? []
      : [{ about: 'new dependencies', said: null, measured: added, differs: broken.includes('no_new_deps') }]),
    ...(rules.length === 0
      ? []
      : [{ about: 'rules of the mission', said: null, measured: joined(rules), differs: true }]),
  ];
}

function joined(words: readonly string[]): string | null {
  return words.length === 0 ? null : words.join(', ');
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOfHandoff({ handoff }: SessionAccount): Fields {
  const parsed = handoff === null ? undefined : parseHandoff(handoff.xml);
  return parsed?.ok === true ? { ...parsed.value } : {};
}
