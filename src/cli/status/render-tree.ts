import type { AgentView, AttentionView, DecisionView, StatusView } from '../run/views.ts';
import { shortId } from '../run/views.ts';
import { ago } from './ago.ts';
import { fillSections, type Item, type Section } from './fill-sections.ts';
import { paint, signOf, type Piece } from './paint.ts';
import { agentPieces, crewOf, pipelineItem } from './pipeline-item.ts';

export interface TreeOptions {
  readonly columns: number;
  /** At most so many lines; what does not fit is counted. Left out: everything is shown. */
  readonly rows?: number;
  readonly now: Date;
  readonly colors: boolean;
  /** Where the daemon does not answer: since when, and why. What is shown is then how things stood. */
  readonly away?: { readonly since: Date; readonly why: string };
}

/** What runs and what needs a person, as lines for a terminal. Pure. */
export function renderTree(status: StatusView, options: TreeOptions): string[] {
  const head = headOf(status, options);
  const foot = footOf(status);
  const left = (options.rows ?? Infinity) - head.length - foot.length;
  const body = fillSections(sectionsOf(status, options.now.getTime()), left);
  const lines = [...head, ...body, ...foot].slice(0, options.rows ?? Infinity);
  return lines.map((pieces) => paint(pieces, options));
}

type Line = readonly Piece[];

/** The one line that is always there. It never says that all is well where nobody knows. */
function headOf({ needsYou, attention, pipelines, agents, importing }: StatusView, { away, now }: TreeOptions): Line[] {
  if (away !== undefined) {
    const since = away.since.toTimeString().slice(0, 8);
    const age = ago(away.since.toISOString(), now.getTime());
    return [
      [
        [`The daemon is away since ${since}.`, 'bad'],
        [' Start it with: baton up', 'bold'],
      ],
      [[`This is how things stood ${age} ago; agents go on meanwhile. (${away.why})`, 'dim']],
    ];
  }
  const runs = [...pipelines.filter(({ parentId }) => parentId === null), ...agents.filter(isAlone)];
  const running = runs.filter(({ status }) => status !== 'waiting' && status !== 'escalated').length;
  const needs = needsOf(needsYou.length, attention);
  const calls: Piece = needs === '' ? ['Nothing needs you', 'good'] : [needs, 'call'];
  const copying: Line[] = importing === undefined ? [] : [[[`Copying the repository: ${importing}`, 'dim']]];
  return [[calls, [running === 0 ? ', nothing runs.' : `, ${running} at work.`]], ...copying];
}

/** `1 decision, 2 blocked tasks need you`; the page has the same words. */
function needsOf(decisions: number, attention: readonly AttentionView[]): string {
  const sum = (those: readonly AttentionView[]): number => those.reduce((total, { count }) => total + count, 0);
  const kinds = Map.groupBy(attention, ({ kind }) => kind);
  const counts = [...kinds].map(([kind, those]) => [sum(those), NOUNS[kind] ?? kind] as const);
  const all = [[decisions, 'decision'] as const, ...counts].filter(([count]) => count > 0);
  const words = all.map(([count, noun]) => `${count} ${noun}${count === 1 ? '' : 's'}`);
  const needs = decisions + sum(attention) === 1 ? 'needs' : 'need';
  return words.length === 0 ? '' : `${words.join(', ')} ${needs} you`;
}

const NOUNS: Readonly<Record<string, string>> = {
  runbook: 'broken runbook',
  blocked: 'blocked task',
  cancelled: 'cancelled task',
  unserved: 'waiting task',
  main: 'main branch',
};

function sectionsOf(status: StatusView, nowMs: number): Section[] {
  const { needsYou, attention, pipelines, agents } = status;
  const crew = crewOf(status);
  const shown = new Set(pipelines.map(({ id }) => id));
  const alone = agents.filter(({ pipelineId }) => pipelineId === null || !shown.has(pipelineId));
  const roots = pipelines.filter(({ parentId }) => parentId === null || !shown.has(parentId));
  return [
    {
      title: [['needs you', 'bold']],
      more: attention.length === 0 ? 'baton decision list' : 'baton status',
      items: [...needsYou.map((decision) => decisionItem(decision, nowMs)), ...attention.map(attentionItem)],
    },
    {
      title: [
        ['pipelines', 'bold'],
        [counts(roots), 'dim'],
      ],
      more: 'baton pipeline list',
      items: roots.map((pipeline) => pipelineItem(pipeline, crew, nowMs)),
    },
    {
      title: [
        ['agents', 'bold'],
        [counts(alone), 'dim'],
      ],
      more: 'baton agent list',
      items: alone.map((agent) => agentItem(agent, nowMs)),
    },
  ];
}

function decisionItem({ id, title, context, openedAt }: DecisionView, nowMs: number) {
  const brief: Line = [
    ['  '],
    signOf('waiting'),
    [` ${shortId(id)} `, 'bold'],
    [`${title} `],
    [ago(openedAt, nowMs), 'dim'],
  ];
  return { brief: [brief], full: context === '' ? [brief] : [brief, [['             '], [context, 'dim']] as Line] };
}

function attentionItem({ title, context, next }: AttentionView): Item {
  const head: Line = [['  '], signOf('waiting'), [` ${title}`]];
  const command: Piece = [next, 'bold'];
  const why: Line[] = context === '' ? [] : [[['    '], [context, 'dim']]];
  return { brief: [[...head, ['  '], command]], full: [head, ...why, [['    '], command]] };
}

function agentItem(agent: AgentView, nowMs: number) {
  const line: Line = [['  '], ...agentPieces(agent, nowMs)];
  return { brief: [line], full: [line] };
}

function counts(runs: readonly { readonly status: string }[]): string {
  const byStatus = Map.groupBy(runs, ({ status }) => status);
  const words = [...byStatus].map(([status, those]) => `${those.length} ${status}`);
  return words.length === 0 ? '' : ` (${words.join(', ')})`;
}

function footOf({ tasks }: StatusView): Line[] {
  const some = tasks.filter(([, count]) => count > 0);
  if (some.length === 0) return [];
  return [[['tasks', 'bold'], [` ${some.map(([status, count]) => `${count} ${status}`).join(', ')}`]]];
}

function isAlone({ pipelineId }: AgentView): boolean {
  return pipelineId === null;
}
