import type { ApiError } from '../../api/answer.ts';
import { NOT_ANSWERING } from '../../api/client/reach.ts';
import type { AgentView, AttentionView, DecisionView, StatusView } from '../../api/run-views.ts';
import type { WorkflowBrief } from '../../api/stage-views.ts';
import { describeAnswer } from '../decisions/pending-answer.ts';
import { shortId } from '../text.ts';
import { ACTIVITY_WORDS, activitySign, stageStrip } from '../view/stage-pieces.ts';
import { paint, type Piece, renderAge, signOf } from './paint.ts';
import {
  agentPieces,
  fillSections,
  findAgentsBySteps,
  pipelineItem,
  type StatusItem,
  type StatusSection,
} from './pipeline-item.ts';

export interface RenderStatusOptions {
  readonly columns: number;
  /** The most lines to render; absent for all. */
  readonly rows?: number;
  readonly now: Date;
  readonly colors: boolean;
  /** Set if the daemon does not answer. The status is then the last known one. */
  readonly away?: Away;
}

export interface Away {
  /** When the shown status, or the first failed one, was requested. */
  readonly since: Date;
  readonly why: ApiError;
}

export function describeAway({ code, message }: ApiError): string {
  const isHung = code === 'no-answer' && message.startsWith(NOT_ANSWERING);
  return isHung
    ? 'The daemon does not answer'
    : AWAY_CODES.has(code)
      ? 'The daemon cannot be reached'
      : 'There is no status';
}

/** Returns one sentence without a full stop. */
export function describeFault(error: ApiError): string {
  const { message } = error;
  const title = describeAway(error);
  return message.startsWith(NOT_ANSWERING) ? `${title}${message.slice(NOT_ANSWERING.length)}` : `${title}: ${message}`;
}

/** No daemon runs, or the connection to it was lost. */
const AWAY_CODES: ReadonlySet<string> = new Set(['daemon-away', 'no-answer', 'stopping']);

export type ShownStatus = Pick<
  StatusView,
  | 'all_clear'
  | 'summary'
  | 'needs'
  | 'importing'
  | 'needs_you'
  | 'answered'
  | 'attention'
  | 'workflows'
  | 'pipelines'
  | 'agents'
  | 'tasks'
>;

export function renderStatus(status: ShownStatus, options: RenderStatusOptions): string[] {
  const head = renderHead(status, options);
  const foot = renderFoot(status);
  const left = (options.rows ?? Infinity) - head.length - foot.length;
  const body = fillSections(sectionsOf(status, options.now.getTime()), left);
  const lines = [...head, ...body, ...foot].slice(0, options.rows ?? Infinity);
  return lines.map((pieces) => paint(pieces, options));
}

type Line = readonly Piece[];

function renderHead({ all_clear, summary, needs, importing }: ShownStatus, { away, now }: RenderStatusOptions): Line[] {
  if (away !== undefined) {
    const since = away.since.toTimeString().slice(0, 8);
    const age = renderAge(away.since.toISOString(), now.getTime());
    return [
      [
        [`${describeAway(away.why)} since ${since}.`, 'bad'],
        [` ${away.why.hint}`, 'bold'],
      ],
      [[`This status is ${age} old. The agents continue. (${away.why.message})`, 'dim']],
    ];
  }
  const copying: Line[] = importing === null ? [] : [[[`Copying the repository: ${importing}`, 'dim']]];
  return [[[summary, all_clear ? 'good' : needs === 0 ? 'plain' : 'call']], ...copying];
}

function sectionsOf(status: ShownStatus, nowMs: number): StatusSection[] {
  const { needs_you, answered, attention, workflows, pipelines, agents } = status;
  const runners = findAgentsBySteps(status);
  const shown = new Set(pipelines.map(({ id }) => id));
  const byTask = Map.groupBy(agents, ({ task_id: task }) => task);
  const inWorkflow = new Set<string | null>(workflows.map(({ task_id: task }) => task));
  const alone = agents.filter(
    ({ pipeline_id: within, task_id: task }) => (within === null || !shown.has(within)) && !inWorkflow.has(task),
  );
  const roots = pipelines.filter(({ parent }) => parent === null || !shown.has(parent.pipeline_id));
  return [
    {
      title: [['needs you', 'bold']],
      more: attention.length === 0 ? 'baton decision list' : 'baton status',
      items: [...needs_you.map((decision) => decisionItem(decision, nowMs)), ...attention.map(attentionItem)],
    },
    {
      title: [['answered', 'bold']],
      more: 'baton decision list',
      items: answered.map((decision) => answeredItem(decision, nowMs)),
    },
    {
      title: [
        ['workflows', 'bold'],
        [renderCounts(workflows.map(({ activity }) => ({ status: activity }))), 'dim'],
      ],
      more: 'baton task list --status in_progress',
      items: workflows.map((workflow) => workflowItem(workflow, byTask.get(workflow.task_id) ?? [], nowMs)),
    },
    {
      title: [
        ['pipelines', 'bold'],
        [renderCounts(roots), 'dim'],
      ],
      more: 'baton pipeline list',
      items: roots.map((pipeline) => pipelineItem(pipeline, runners, nowMs)),
    },
    {
      title: [
        ['agents', 'bold'],
        [renderCounts(alone), 'dim'],
      ],
      more: 'baton agent list',
      items: alone.map((agent) => agentItem(agent, nowMs)),
    },
  ];
}

function decisionItem({ id, title, context, opened_at }: DecisionView, nowMs: number) {
  const brief: Line = [
    ['  '],
    signOf('waiting'),
    [` ${shortId(id)} `, 'bold'],
    [`${title} `],
    [renderAge(opened_at, nowMs), 'dim'],
  ];
  const why = whyLines(UNDER_ID, context);
  const next: Line = [[UNDER_ID], [`baton decision show ${shortId(id)}`, 'bold']];
  return { brief: [brief], full: [brief, ...why, next] };
}

/** Keeps the lines of a context, such as the findings of a reviewer; `baton decision show` prints the others. */
function whyLines(indent: string, context: string): readonly Line[] {
  const lines = context.split('\n').filter((line) => line.trim() !== '');
  const left = lines.length - MOST_WHY;
  const shown = left > 1 ? [...lines.slice(0, MOST_WHY), `… ${left} more lines`] : lines;
  return shown.map((line): Line => [[indent], [line, 'dim']]);
}

const MOST_WHY = 8;

function answeredItem({ id, title, answer }: DecisionView, nowMs: number): StatusItem {
  const given = answer === null ? '' : describeAnswer(answer, nowMs);
  const brief: Line = [['  '], signOf('starting'), [` ${shortId(id)} `, 'bold'], [`${title}  ${given}`]];
  return { brief: [brief], full: [brief, [[UNDER_ID], [`baton decision undo ${shortId(id)}`, 'bold']]] };
}

const UNDER_ID = ' '.repeat(13);

function attentionItem({ title, context, next }: AttentionView): StatusItem {
  const head: Line = [['  '], signOf('waiting'), [` ${title}`]];
  const command: Piece = [next, 'bold'];
  const why = whyLines('    ', context);
  return { brief: [[...head, ['  '], command]], full: [head, ...why, [['    '], command]] };
}

/** Renders the current stage; in the full form all stages and agents. */
function workflowItem(workflow: WorkflowBrief, agents: readonly AgentView[], nowMs: number): StatusItem {
  const { task_id, title, activity, since, rounds, stages } = workflow;
  const now = stages.find(({ status }) => status === 'now')?.name ?? '';
  const brief: Line = [
    ['  '],
    activitySign(activity),
    [` ${task_id}`, 'bold'],
    [` ${title}`],
    [`  ${now}`.trimEnd(), 'bold'],
    [` ${ACTIVITY_WORDS[activity]}`],
    [` ${renderAge(since, nowMs)}`, 'dim'],
    ...(rounds === 0 ? [] : [[`  round ${rounds}`, 'dim'] as Piece]),
  ];
  const own = agents.map((agent): Line => [['    '], ...agentPieces({ ...agent, task_id: null }, nowMs)]);
  return { brief: [brief], full: [brief, [['    '], ...stageStrip(stages)], ...own] };
}

function agentItem(agent: AgentView, nowMs: number) {
  const line: Line = [['  '], ...agentPieces(agent, nowMs)];
  return { brief: [line], full: [line] };
}

function renderCounts(runs: readonly { readonly status: string }[]): string {
  const byStatus = Map.groupBy(runs, ({ status }) => status);
  const words = [...byStatus].map(([status, those]) => `${those.length} ${status}`);
  return words.length === 0 ? '' : ` (${words.join(', ')})`;
}

function renderFoot({ tasks }: ShownStatus): Line[] {
  const some = Object.entries(tasks).filter(([, count]) => count > 0);
  if (some.length === 0) return [];
  return [[['tasks', 'bold'], [` ${some.map(([status, count]) => `${count} ${status}`).join(', ')}`]]];
}
