import type { DecisionView } from '../../api/run-views.ts';
import type { SessionView, TaskOverview } from '../../api/operations/task-view.ts';
import { UNPROVEN_WORDS } from '../../protocol/handoff/judge.ts';
import { isOver } from '../../protocol/phase.ts';
import { renderDollars } from '../../protocol/price.ts';
import { describeAnswer } from '../decisions/pending-answer.ts';
import { renderOutput } from '../run/pipelines.ts';
import { type Look, paint, type Piece, renderAge, signOf } from '../status/paint.ts';
import { padTo, widthOf, wrapTo } from '../table.ts';
import { decisionCommands, describeAfter, describeBlock, toText } from '../task/describe-task.ts';
import { oneLine, printable, printableLines, renderCount, shortId } from '../text.ts';
import { ACTIVITY_WORDS, type Line, renderMs, renderTimes, stageStrip, visitPieces } from './stage-pieces.ts';

/** `baton task show`: the complete view for a person. Wraps long texts, and cuts lists to the terminal's width. */
export function renderTaskView(view: TaskOverview, look: Look): string[] {
  const facts = [...taskFacts(view), ...workFacts(view), ...recordFacts(view)];
  return [
    ...wrap(`${toText(view.id)} (number ${view.n})  ${toText(view.title)}`, look.columns, ''),
    ...facts.flatMap(([name, value]) => (value === '' ? [] : wrapFact(name, value, look.columns))),
    ...issueLines(view, look.columns),
    ...paintSection('stages', stageSection(view), look),
    ...findingLines(view, look.columns),
    ...checkLines(view, look),
    ...paintSection('sessions', view.sessions.flatMap(sessionLines(view)), look),
    ...paintSection('decisions', view.decisions.flatMap(decisionLines(Date.parse(view.at))), look),
    ...descriptionLines(view, look.columns),
  ];
}

type Fact = readonly [name: string, value: string];

function taskFacts(view: TaskOverview): Fact[] {
  const { claim } = view;
  return [
    ['author', toText(view.author)],
    ['status', view.status],
    ['phase', `${view.phase}${view.next_role ? `, next: ${toText(view.next_role)}` : ''}`],
    ['claimable', view.claimable ? 'yes' : 'no'],
    ['claim', claim ? describeClaim(claim) : ''],
    ['taken', view.taken_by === null ? '' : `over by ${toText(view.taken_by)}`],
    ['after', describeAfter(view)],
    ['github', toText(view.github_issue)],
    ['progress', view.progress === null ? '' : `${view.progress} %`],
    ['notes', toText(view.notes)],
    [view.status === 'cancelled' ? 'cancelled' : 'blocked', describeBlock(view)],
    // Changes to these paths need an approval before the merge.
    ['protected', view.protected_paths.map(toText).join(', ')],
    ...decisionCommands(view).map((command): Fact => ['decide', command]),
  ];
}

function describeClaim({ holder, host, epoch, expires_at: until }: NonNullable<TaskOverview['claim']>): string {
  const where = host === undefined ? '' : ` on ${toText(host)}`;
  return `${toText(holder)}${where}, epoch ${epoch}${until === undefined ? '' : `, until ${until}`}`;
}

function workFacts(view: TaskOverview): Fact[] {
  const { approval, pull_request: pull } = view;
  return [
    ['mode', view.mode ?? ''],
    ['now', `${ACTIVITY_WORDS[view.activity]} since ${view.since}`],
    ['rounds', view.rounds === 0 ? '' : String(view.rounds)],
    ['time', renderTimes(view.times)],
    ['cost', renderSpent(view.cost)],
    ['branch', toText(view.branch)],
    // The worktree of a finished task may no longer exist.
    ['worktree', isOver(view.activity) ? '' : toText(view.workspace)],
    ['head', describeHead(view)],
    ['diff', view.diff_command ?? ''],
    ['log', view.log_command ?? ''],
    ['approval', approval ? describeApproval(approval) : ''],
    ['pull', pull?.url ? `${toText(pull.url)}${pull.is_closed ? ' (closed)' : ''}` : ''],
    ['merged', view.merge_sha ?? ''],
  ];
}

function describeApproval({ head, by, unproven }: NonNullable<TaskOverview['approval']>): string {
  const given = `${(head ?? '').slice(0, 12)} by ${toText(by)}`.trim();
  return unproven === null ? given : `${given}, ${UNPROVEN_WORDS[unproven]}`;
}

function describeHead({ head, commits }: TaskOverview): string {
  if (head === null) return '';
  return commits === 0 ? head : `${head}, ${commits} commit${commits === 1 ? '' : 's'}`;
}

function recordFacts({ latest_record: record, authors, self_approval: own }: TaskOverview): Fact[] {
  return [
    ['record', record ? `${toText(record.commit_sha)} on ${toText(record.branch)}` : ''],
    ['summary', toText(record?.summary)],
    ['authors', authors.map(toText).join(', ')],
    ['approved', own ? `${toText(own.head).slice(0, 12)} by its author ${toText(own.by)}: ${toText(own.reason)}` : ''],
  ];
}

/** A cost with a + is a lower bound, because some of its tokens have no known price. */
export function renderSpent(cost: TaskOverview['cost']): string {
  const tokens = cost.input_tokens + cost.output_tokens + cost.cached_tokens;
  if (tokens + cost.cost_millicents === 0) return '';
  return `${renderDollars(cost.cost_millicents)}${cost.unpriced_tokens > 0 ? '+' : ''}, ${renderCount(tokens)} tokens`;
}

const INDENT = ' '.repeat(13);

function wrapFact(name: string, value: string, columns: number): string[] {
  return wrap(value, columns, INDENT).map((line, i) =>
    i === 0 ? `  ${name.padEnd(9)}  ${line.slice(INDENT.length)}` : line,
  );
}

/** Drops the indent if the terminal has no room for it. */
function wrap(text: string, columns: number, indent: string): string[] {
  return wrapTo(text, Math.max(20, columns - indent.length)).map((line) => `${indent}${line}`);
}

function issueLines({ issue }: TaskOverview, columns: number): string[] {
  if (issue === null) return [];
  const { title, type, priority, summary, requirements } = issue;
  const kind = [type, priority]
    .filter((word) => word !== null)
    .map(toText)
    .join(', ');
  const asked = requirements.flatMap((each) => wrap(`- ${toText(each)}`, columns, INDENT));
  return [
    ...wrapFact('issue', `${toText(title)}${kind === '' ? '' : ` (${kind})`}`, columns),
    ...(summary === '' || summary === title ? [] : wrap(toText(summary), columns, INDENT)),
    ...asked,
  ];
}

function descriptionLines({ description }: TaskOverview, columns: number): string[] {
  if (description === null) return [];
  const lines = printableLines(description).split('\n');
  return ['', ...lines.flatMap((line) => (line.trim() === '' ? [''] : wrap(line, columns, '  ')))];
}

function paintSection(title: string, lines: readonly Line[], look: Look): string[] {
  return lines.length === 0 ? [] : [`  ${title}`, ...lines.map((line) => paint([['    '], ...line], look))];
}

/** A task that was never worked on shows no stages. */
function stageSection({ mode, visits, stages, sessions }: TaskOverview): Line[] {
  if (mode === null && sessions.length === 0) return [];
  const names = Math.max(...visits.map(({ stage }) => widthOf(stage)), 0);
  const ahead = stages.filter(({ status }) => status === 'ahead');
  return [...visits.map((visit) => visitPieces(visit, names)), ...(ahead.length === 0 ? [] : [stageStrip(ahead)])];
}

function findingLines({ findings, rounds }: TaskOverview, columns: number): string[] {
  if (findings.length === 0) return [];
  const lines = findings.flatMap(({ text, rounds: times }) => {
    const [first = '', ...rest] = text.split('\n').map((line) => printable(line.trimEnd()));
    const again = times > 1 ? ` (found in ${times} rounds in a row)` : '';
    const below = rest.slice(0, MOST_LINES).flatMap((line) => wrap(line, columns, '      '));
    return [...wrap(`- ${first}${again}`, columns, '    '), ...below];
  });
  return [`  findings of round ${rounds}`, ...lines];
}

/** The rest of a long finding is in the handoff. */
const MOST_LINES = 10;

function checkLines({ checks }: TaskOverview, look: Look): string[] {
  if (checks === null) return [];
  const lines = checks.checks.flatMap(({ name, outcome, exit_code, output, sandbox }) => {
    const sign = outcome === 'passed' ? signOf('done') : outcome === 'failed' ? signOf('failed') : signOf(outcome);
    const code = outcome === 'failed' && exit_code !== null ? `, exit code ${exit_code}` : '';
    const box: Line = sandbox === null ? [] : [[`  (${sandbox})`, 'dim']];
    const line: Line = [
      ['    '],
      sign,
      [` ${name}`],
      [`  ${outcome}${code}`, outcome === 'failed' ? 'bad' : 'dim'],
      ...box,
    ];
    return [paint(line, look), ...renderOutput(output ?? '', '      ', null).filter((text) => text.trim() !== '')];
  });
  return [`  checks of ${checks.head.slice(0, 12)}`, ...lines];
}

/** Renders one line per session, and a second one with the reason of its end. */
function sessionLines({ sessions }: TaskOverview): (session: SessionView) => Line[] {
  const names = Math.max(0, ...sessions.map((session) => widthOf(nameOf(session))));
  return (session) => {
    const { epoch, how, reason, status, ended_at, started_at } = session;
    const line: Piece[] = [
      [`${epoch}  ${padTo(nameOf(session), names)}`],
      [`  ${how ?? status ?? 'claimed'}`, how === null ? 'busy' : 'plain'],
      ...sessionParts(session).map((part): Piece => [`  ${part}`, 'dim']),
      [`  ${ended_at ?? started_at ?? ''}`, 'dim'],
    ];
    return [line, ...(reason === null || reason === how ? [] : [[[`   ${oneLine(reason)}`, 'dim']] as Line])];
  };
}

function nameOf({ holder, role, agent_id }: SessionView): string {
  return [holder, role === null || role === holder ? '' : `(${role})`, agent_id === null ? '' : shortId(agent_id)]
    .filter((word) => word !== '')
    .join(' ');
}

function sessionParts(session: SessionView): string[] {
  const { started_at, ended_at, tokens, cost_millicents, model, blocks, processes, sandbox, host } = session;
  return [
    host === undefined ? '' : `on ${toText(host)}`,
    started_at !== null && ended_at !== null ? renderMs(Date.parse(ended_at) - Date.parse(started_at)) : '',
    model ?? '',
    sandbox === null ? '' : `(${sandbox})`,
    tokens ? `${renderCount(tokens)} tokens` : '',
    cost_millicents === null ? '' : renderDollars(cost_millicents),
    blocks === 0 ? '' : `${blocks} blocked stop${blocks === 1 ? '' : 's'}`,
    processes > 1 ? `${processes} processes` : '',
  ].filter((part) => part !== '');
}

function decisionLines(nowMs: number): (decision: DecisionView) => Line[] {
  return ({ id, title, opened_at, options, answer, result }) => {
    if (answer !== null)
      return [
        [signOf('starting'), [` ${shortId(id)} `, 'bold'], [`${title}  answered ${describeAnswer(answer, nowMs)}`]],
        [['  '], [`baton decision undo ${shortId(id)}`, 'bold']],
      ];
    if (result === null)
      return [
        [signOf('waiting'), [` ${shortId(id)} `, 'bold'], [`${title} `], [renderAge(opened_at, nowMs), 'dim']],
        [['  '], [`baton decision show ${shortId(id)}`, 'bold']],
      ];
    const { kind, option = 0, by = '', message, reason = '' } = result;
    const outcome = kind === 'withdrawn' ? `withdrawn: ${reason}` : `${options[option - 1]?.label ?? option} by ${by}`;
    const line: Line = [
      signOf(kind === 'withdrawn' ? 'cancelled' : 'done'),
      [` ${shortId(id)} `],
      [title, 'dim'],
      [`  ${outcome}`],
    ];
    return [line, ...(message ? [[[`  ${oneLine(message)}`]] as Line] : [])];
  };
}
