import type { ToolCallParts, ToolKind, ToolStatus } from '../../acp/messages.ts';
import type { TaskOverview, VisitView } from '../../api/operations/task-view.ts';
import type { PipelineView } from '../../api/run-views.ts';
import { fencedText, messageLine } from './plain-text.ts';

export interface StageCall extends ToolCallParts {
  readonly title: string;
  readonly status: ToolStatus;
  /** The agent of the stage. */
  readonly agent?: { readonly id: string; readonly run: string };
}

/**
 * Returns one tool call for each visit to a stage: a session, a run of the checks, a merge. Visits that have not
 * started are left out.
 */
export function stageCalls(view: Pick<TaskOverview, 'id' | 'visits' | 'sessions' | 'checks'>): readonly StageCall[] {
  return view.visits.flatMap((visit, i) => {
    const status = statusOf(visit);
    if (status === 'pending') return [];
    const session = view.sessions.find(({ epoch }) => visit.epoch !== null && epoch === visit.epoch);
    const isLastOfStage = view.visits.findLastIndex(({ stage }) => stage === visit.stage) === i;
    const checks = visit.stage === 'ci' && isLastOfStage ? failedChecks(view.checks) : [];
    const agentId = session?.agent_id ?? null;
    return [
      {
        toolCallId: `${view.id}/visit-${i + 1}`,
        title: describeVisit(visit),
        kind: kindOf(visit),
        status,
        ...(checks.length === 0 ? {} : { content: checks }),
        ...(agentId === null ? {} : { agent: { id: agentId, run: session?.run ?? '' } }),
      },
    ];
  });
}

function statusOf({ to, activity, outcome }: VisitView): ToolStatus {
  if (to !== null) return outcome !== null && FAILURES.test(outcome) ? 'failed' : 'completed';
  return activity === 'running' || activity === 'checks' || activity === 'merging' ? 'in_progress' : 'pending';
}

const FAILURES = /^(?:failed|error|cancelled|revoked|expired|conflict|abandoned)/;

const KINDS: Readonly<Record<string, ToolKind>> = {
  'issue-manager': 'think',
  implementer: 'edit',
  /** The phase of a task without roles. */
  IMPLEMENTATION: 'edit',
  fixer: 'edit',
  reviewer: 'think',
};

function kindOf({ stage }: VisitView): ToolKind {
  return KINDS[stage] ?? 'execute';
}

function describeVisit({ stage, round, holder, outcome, to }: VisitView): string {
  const who = holder === null || holder === stage ? '' : `: ${holder}`;
  const again = round > 0 ? `, round ${round}` : '';
  const end = to === null || outcome === null || outcome === 'completed' ? '' : ` (${outcome})`;
  return messageLine(`${stage}${who}${again}${end}`);
}

/** The failed checks, with the end of their output. */
function failedChecks(checks: TaskOverview['checks']) {
  return (checks?.checks ?? [])
    .filter(({ outcome }) => outcome === 'failed')
    .map(({ name, exit_code: code, output }) =>
      fencedText(`${name}: failed${code === null ? '' : `, exit code ${code}`}\n${output ?? ''}`),
    );
}

/** Returns one tool call for each start of a pipeline's step. */
export function stepCalls({ id, steps }: Pick<PipelineView, 'id' | 'steps'>): readonly StageCall[] {
  return steps.flatMap(({ name, kind, status, visits, reason, output }) => {
    const shown = STEP_STATUS[status];
    if (shown === 'pending') return [];
    const end = status === 'failed' && output !== null ? [fencedText(output)] : [];
    return [
      {
        toolCallId: `${id}/${name}-${visits}`,
        title: messageLine(reason === null ? name : `${name}: ${reason}`),
        kind: kind === 'agent' ? 'other' : 'execute',
        status: shown,
        ...(end.length === 0 ? {} : { content: end }),
      },
    ];
  });
}

const STEP_STATUS: Readonly<Record<PipelineView['steps'][number]['status'], ToolStatus>> = {
  pending: 'pending',
  running: 'in_progress',
  waiting: 'in_progress',
  done: 'completed',
  failed: 'failed',
  cancelled: 'failed',
};
