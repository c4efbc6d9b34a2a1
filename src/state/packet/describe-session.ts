import { parseHandoff } from '../../protocol/handoff/index.ts';
import type { Result } from '../../protocol/result.ts';
import { renderCountOf } from '../../protocol/text/text-format.ts';
import type { EventOf } from '../event.ts';
import type { Task } from '../tasks/task.ts';
import type { HandoffRef } from '../workflow/workflow-event.ts';
import { describeFields, describeScalar, oneLine } from './describe-message.ts';
import { report, type Report } from './report.ts';

interface SessionCircumstances {
  readonly source: { readonly sessions: ReadonlyMap<string, { readonly result?: Result }> };
  readonly task: Task;
}

const LEVELS = ['critical', 'error', 'warn', 'tip', 'info'] as const;

export function describeResult({ status, log, issues = [], files_modified, completed_at }: Result): readonly Report[] {
  const lines = LEVELS.flatMap((level) =>
    log.filter((each) => each.level === level).map(({ message }) => `${level}: ${oneLine(message)}`),
  );
  const asked = issues.map(({ type, description }) => `${type}: ${description}`);
  const files = files_modified.map(({ path, action }) => `${action} ${path}`);
  return [
    report('log', `Log of a result that reports ${status}`, lines.join('\n')),
    ...(asked.length === 0 ? [] : [report('question', 'Issues of the result', asked.join('\n'))]),
    report(
      'measured',
      `Reported by the agent: ${status}, ${renderCountOf(files.length, 'file')}, at ${completed_at}`,
      files.join('\n'),
    ),
  ];
}

/** Describes measurements. Numbers that an agent reports are claims, shown beside Baton's measurement. */
export function describeMeasured(
  { session_id, head, commits, file_count, files, new_dependencies, violations }: EventOf<'SessionMeasured'>['data'],
  { source, task }: SessionCircumstances,
): readonly Report[] {
  const reported = source.sessions.get(session_id)?.result?.files_modified.map(({ path }) => path);
  const measured = new Set(files.map(({ path }) => path));
  const { claim } = task;
  const claimed = claim?.sessionId === session_id && claim.handoff !== null ? claimedNumbers(claim.handoff) : '';
  if (file_count + commits + violations.length + (reported?.length ?? 0) === 0) return [];
  const fields: (readonly [string, unknown])[] = [
    ['violations', violations],
    ['reported in the handoff', claimed],
    ['reported, not changed', reported?.filter((path) => !measured.has(path)).join(', ')],
    [
      'changed, not reported',
      reported === undefined ? '' : [...measured].filter((path) => !reported.includes(path)).join(', '),
    ],
    ['new dependencies', new_dependencies.join(', ')],
    ['files', files.map(({ path, action }) => `${action} ${path}`).join(', ')],
  ];
  const counts = `${renderCountOf(file_count, 'file')}, ${renderCountOf(commits, 'commit')}`;
  const title = `Measured by Baton: ${counts}, head ${head.slice(0, 12)}`;
  return [{ ...report('measured', title, describeFields(fields)), author: 'Baton (measurement)' }];
}

const CLAIMED_NUMBERS: ReadonlySet<string> = new Set([
  'files_changed',
  'tests_added',
  'coverage',
  'commits_added',
  'commits',
]);

function claimedNumbers({ xml }: HandoffRef): string {
  const parsed = parseHandoff(xml);
  if (!parsed.ok) return '';
  return Object.entries(parsed.value)
    .filter(([name]) => CLAIMED_NUMBERS.has(name))
    .map(([name, value]) => `${name} ${Array.isArray(value) ? value.length : describeScalar(value)}`)
    .join(', ');
}
