import type { TaskOverview } from '../../api/operations/task-view.ts';
import { describeAnswer } from '../decisions/pending-answer.ts';
import type { Away } from '../status/render-status.ts';
import { describeAway } from '../status/render-status.ts';
import { type Look, paint, type Piece, signOf } from '../status/paint.ts';
import { shortId } from '../text.ts';
import { type Line, renderMs, stageLines, stageStrip } from './stage-pieces.ts';
import { renderSpent } from './render-task-view.ts';

export interface TreeOptions extends Look {
  /** The most lines to render. */
  readonly rows: number;
  /** Past events, oldest first. As many of the newest lines as fit are shown. */
  readonly story: readonly string[];
  /** The newest text of the agent that holds the task. */
  readonly agentLine?: string | undefined;
  /** Set if the daemon does not answer. The view is then the last known one. */
  readonly away?: Away | undefined;
}

const MAX_STORY = 8;

/**
 * The live tree of `baton run issue`. In a low terminal the stages become one line. Whatever waits for a person is
 * always shown.
 */
export function renderTree(view: TaskOverview, options: TreeOptions): string[] {
  const { rows, story, away } = options;
  const head = [...(away === undefined ? [] : awayLines(away)), titleLine(view)];
  const foot = waitingLines(view).slice(-rows);
  const tree = treeLines(view, options);
  const isLow = head.length + tree.length + foot.length > rows;
  const top = [...head, ...(isLow ? lowLines(view, options) : tree)].slice(0, rows - foot.length);
  // A blank line comes before the story.
  const left = Math.min(MAX_STORY, rows - top.length - foot.length - 1);
  const told = left > 0 && story.length > 0 ? [[], ...story.slice(-left).map((line): Line => [[line, 'dim']])] : [];
  return [...top, ...foot, ...told].map((line) => paint(line, options));
}

function awayLines({ since, why }: Away): Line[] {
  return [
    [
      [`${describeAway(why)} since ${since.toTimeString().slice(0, 8)}.`, 'bad'],
      [' Agents continue meanwhile.', 'dim'],
    ],
  ];
}

function titleLine(view: TaskOverview): Line {
  const { id, title, rounds } = view;
  const spent = Object.values(view.times).reduce((sum, ms) => sum + ms, 0);
  const facts = [renderMs(spent), renderSpent(view.cost), rounds === 0 ? '' : `round ${rounds}`];
  return [[id, 'bold'], [` ${title}`], [`  ${facts.filter((fact) => fact !== '').join(', ')}`, 'dim']];
}

function treeLines(view: TaskOverview, options: TreeOptions): Line[] {
  const lines = stageLines(view.stages);
  return view.stages.flatMap((stage, i) => [
    [['  '], ...(lines[i] ?? [])] as Line,
    ...(stage.name === 'ci' && stage.status !== 'ahead' ? checkLines(view) : []),
    ...(stage.status === 'now' ? agentLines(view, options) : []),
  ]);
}

/** If all checks passed, they are not listed, because the status of their stage shows it. */
function checkLines({ checks }: TaskOverview): Line[] {
  if (checks === null || checks.outcome === 'passed') return [];
  return checks.checks.map(({ name, outcome, exit_code }): Line => {
    const sign = outcome === 'pending' ? signOf('running') : signOf(outcome === 'passed' ? 'done' : outcome);
    const code = outcome === 'failed' && exit_code !== null ? `, exit code ${exit_code}` : '';
    return [['      '], sign, [` ${name}`], [`  ${outcome}${code}`, outcome === 'failed' ? 'bad' : 'dim']];
  });
}

function agentLines({ claim, sessions }: TaskOverview, { agentLine }: TreeOptions): Line[] {
  if (claim === null) return [];
  const agent = sessions.findLast(({ epoch }) => epoch === claim.epoch);
  const who: Piece[] = [
    ['      '],
    [agent?.agent ?? claim.holder],
    ...(agent?.agent_id ? [[` ${shortId(agent.agent_id)}`, 'dim'] as Piece] : []),
  ];
  return [[...who, ...(agentLine ? [[`: ${agentLine}`, 'dim'] as Piece] : [])]];
}

/** Renders one line with all stages, then the current stage with its agent. */
function lowLines(view: TaskOverview, options: TreeOptions): Line[] {
  const now = view.stages.filter(({ status }) => status === 'now');
  const [current] = stageLines(now);
  return [
    [['  '], ...stageStrip(view.stages)],
    ...(current === undefined ? [] : [[['  '], ...current] as Line]),
    ...agentLines(view, options),
  ];
}

/** Renders each open decision, with the command that answers it or undoes its answer. */
function waitingLines({ decisions, activity, id, at, blocked_because: because }: TaskOverview): Line[] {
  const open = decisions.filter(({ result }) => result === null);
  if (open.length === 0 && activity === 'blocked')
    return [
      [['  '], [because ?? 'blocked', 'bad']],
      [['    '], [`baton task unblock ${id} --reason "…"`, 'bold']],
    ];
  return open.flatMap(({ id: decision, title, context, answer }): Line[] => {
    if (answer !== null)
      return [
        [['  '], signOf('starting'), [` ${title}`], [`  answered ${describeAnswer(answer, Date.parse(at))}`]],
        [['    '], [`baton decision undo ${shortId(decision)}`, 'bold']],
      ];
    return [
      [['  '], signOf('waiting'), [` ${title}`, 'call']],
      ...(context === '' ? [] : [[['    '], [context, 'dim']] as Line]),
      [['    '], [`baton decision show ${shortId(decision)}`, 'bold']],
    ];
  });
}
