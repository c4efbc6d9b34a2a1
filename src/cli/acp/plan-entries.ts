import type { PlanEntry } from '../../acp/messages.ts';
import type { PipelineView } from '../../api/run-views.ts';
import type { StageView } from '../../api/stage-views.ts';
import { ACTIVITY_WORDS } from '../view/stage-pieces.ts';
import { messageLine } from './plain-text.ts';

type Stage = Pick<StageView, 'name' | 'status' | 'activity' | 'visits' | 'outcome'>;

/** Returns one entry for each stage of a workflow, including those ahead. */
export function planOfStages(stages: readonly Stage[]): readonly PlanEntry[] {
  return stages.map((stage) => entryOf(describeStage(stage), STAGE_STATUS[stage.status], stage.activity === 'waiting'));
}

/** ACP has no status for failure. A failed stage is repeated after the fixer, so it counts as pending. */
const STAGE_STATUS: Readonly<Record<Stage['status'], PlanEntry['status']>> = {
  done: 'completed',
  now: 'in_progress',
  ahead: 'pending',
  failed: 'pending',
};

function describeStage({ name, status, activity, visits, outcome }: Stage): string {
  const times = visits > 1 ? ` ×${visits}` : '';
  if (status === 'now' && activity !== null) return `${name}${times}: ${ACTIVITY_WORDS[activity]}`;
  return status === 'failed' ? `${name}${times}: ${outcome ?? 'failed'}` : `${name}${times}`;
}

/** Returns one entry for each step of a pipeline. */
export function planOfSteps(steps: PipelineView['steps']): readonly PlanEntry[] {
  return steps.map(({ name, status, visits }) => {
    const isQuiet = status === 'done' || status === 'pending' || status === 'running';
    const words = `${name}${visits > 1 ? ` ×${visits}` : ''}${isQuiet ? '' : `: ${status}`}`;
    return entryOf(words, STEP_STATUS[status], status === 'waiting');
  });
}

const STEP_STATUS: Readonly<Record<PipelineView['steps'][number]['status'], PlanEntry['status']>> = {
  pending: 'pending',
  running: 'in_progress',
  waiting: 'in_progress',
  done: 'completed',
  failed: 'completed',
  cancelled: 'completed',
};

function entryOf(content: string, status: PlanEntry['status'], needsPerson: boolean): PlanEntry {
  return { content: messageLine(content), status, priority: needsPerson ? 'high' : 'medium' };
}
