import { fieldOf, textOf } from '../../../protocol/shape/read-unknown.ts';
import type { Timed } from '../strip.ts';
import { figure, findWord, type RunEntry, word } from './run-entry.ts';
import { stackRows, type TimelineRow, type TimelineSegment } from './timeline-row.ts';

type Row = Omit<TimelineRow, 'round'>;

export const PIPELINE_TYPES = [
  'PipelineStarted', 'StepStarted', 'StepWaiting', 'StepResumed', 'StepFinished', 'PipelineFinished', 'AgentRequested',
  'CommandRequested', 'CommandFinished', 'DecisionOpened', 'DecisionResolved', 'DecisionWithdrawn',
] as const; // prettier-ignore

/** Lists the visits to a pipeline's steps, stacked by step. */
export function listStepRows(id: string, entries: readonly RunEntry[]): readonly TimelineRow[] {
  const rows: Row[] = [];
  let open: Row | undefined;
  const close = (at: string, outcome: string | null, output?: string): void => {
    if (open !== undefined) rows.push(endRow(open, at, outcome, output));
    open = undefined;
  };
  for (const entry of inOrder(entries)) {
    const { type, at, seq, data } = entry;
    if (type === 'PipelineStarted' && textOf(fieldOf(fieldOf(data, 'parent'), 'pipeline_id')) === id && open)
      open = { ...open, pipelineId: word(entry, 'pipeline_id') };
    if (type === 'AgentRequested' && textOf(fieldOf(fieldOf(data, 'owner'), 'pipeline_id')) === id && open)
      open = { ...open, agentId: word(entry, 'agent_id') };
    if (type === 'CommandRequested' && textOf(fieldOf(fieldOf(data, 'subject'), 'pipeline_id')) === id && open)
      open = { ...open, commandId: word(entry, 'command_id') };
    if (type === 'CommandFinished' && textOf(fieldOf(fieldOf(data, 'subject'), 'pipeline_id')) === id && open)
      open = { ...open, output: word(entry, 'output'), seq };
    if (word(entry, 'pipeline_id') !== id) continue;
    if (type === 'StepStarted') {
      close(at, null);
      const step = word(entry, 'step');
      open = beginRow(`step ${seq}`, 'step', step, step, at);
    }
    if (type === 'StepWaiting' && open) open = turnTo(open, 'waiting', at);
    if (type === 'StepResumed' && open) open = turnTo(open, 'running', at);
    if (type === 'StepFinished') close(at, word(entry, 'outcome'), word(entry, 'output'));
    if (type === 'PipelineFinished') close(at, word(entry, 'outcome'));
  }
  if (open !== undefined) rows.push(open);
  return stackRows([...rows, ...listWaits(entries, 'pipeline_id', id, rows)]);
}

export const AGENT_TYPES = [
  'AgentRequested', 'AgentResumeRequested', 'AgentStarted', 'AgentStartFailed', 'AgentExited', 'AgentParked',
  'AgentUnparked', 'AgentEnded', 'DecisionOpened', 'DecisionResolved', 'DecisionWithdrawn',
] as const; // prettier-ignore

/** Lists an agent's processes; resumed ones are stacked below the first. */
export function listProcessRows(id: string, entries: readonly RunEntry[]): readonly TimelineRow[] {
  const rows: Row[] = [];
  let open: Row | undefined;
  for (const entry of inOrder(entries)) {
    if (word(entry, 'agent_id') !== id) continue;
    const { type, at } = entry;
    if ((type === 'AgentRequested' || type === 'AgentResumeRequested') && open === undefined)
      open = { ...beginRow(`process ${entry.seq}`, 'process', 'process', 'process', at, 'queued'), agentId: id };
    if (type === 'AgentStarted' && open) open = turnTo(open, 'running', at);
    if (type === 'AgentParked' && open) open = turnTo(open, 'waiting', at);
    if (type === 'AgentUnparked' && open) open = turnTo(open, 'running', at);
    if ((type === 'AgentExited' || type === 'AgentStartFailed') && open) {
      rows.push(endRow(open, at, describeExit(entry)));
      open = undefined;
    }
  }
  if (open !== undefined) rows.push(open);
  return stackRows([...rows, ...listWaits(entries, 'agent_id', id, rows)]);
}

function describeExit(entry: RunEntry): string {
  if (entry.type === 'AgentStartFailed') return 'failed to start';
  const signal = findWord(entry, 'signal');
  return signal === undefined ? `exit code ${figure(entry, 'code')}` : `signal ${signal}`;
}

function inOrder(entries: readonly RunEntry[]): readonly RunEntry[] {
  return entries.toSorted((a, b) => a.seq - b.seq);
}

function beginRow(
  key: string,
  kind: Row['kind'],
  group: string,
  label: string,
  from: string,
  activity: Timed = 'running',
): Row {
  return { key, kind, group, label, from, to: null, outcome: null, segments: [{ activity, from, to: null }] };
}

function turnTo(row: Row, activity: Timed, at: string): Row {
  if (row.segments.at(-1)?.activity === activity) return row;
  return { ...row, segments: [...endLast(row.segments, at), { activity, from: at, to: null }] };
}

function endRow(row: Row, at: string, outcome: string | null, output?: string): Row {
  const said = output === undefined || output === '' || row.output !== undefined ? {} : { output };
  return { ...row, to: at, outcome, segments: endLast(row.segments, at), ...said };
}

function endLast(segments: readonly TimelineSegment[], to: string): readonly TimelineSegment[] {
  const last = segments.at(-1);
  return last === undefined ? [] : [...segments.slice(0, -1), { ...last, to }];
}

/** Lists the decisions about a run, each in the group of the row during which it was opened. */
function listWaits(entries: readonly RunEntry[], field: string, id: string, rows: readonly Row[]): readonly Row[] {
  const ends = new Map<string, RunEntry>();
  for (const entry of entries)
    if (entry.type === 'DecisionResolved' || entry.type === 'DecisionWithdrawn')
      ends.set(word(entry, 'decision_id'), entry);
  return inOrder(entries).flatMap((entry) => {
    if (entry.type !== 'DecisionOpened' || word(entry, field) !== id) return [];
    const decisionId = word(entry, 'decision_id');
    const end = ends.get(decisionId);
    const outcome = end === undefined ? null : (findWord(end, 'action') ?? 'withdrawn');
    const group = rows.findLast(({ from }) => from <= entry.at)?.group ?? rows[0]?.group ?? 'decision';
    const row = beginRow(`decision ${decisionId}`, 'wait', group, word(entry, 'title'), entry.at, 'waiting');
    return [{ ...(end === undefined ? row : endRow(row, end.at, outcome)), decisionId }];
  });
}
