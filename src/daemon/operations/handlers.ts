import { AGENT_HANDLERS } from './agents.ts';
import { AGENT_REPORT_HANDLERS } from './agent-report-handlers.ts';
import { AGENT_RUN_HANDLERS } from './runs.ts';
import { briefHandler } from './briefs.ts';
import { costsHandler } from './costs-handler.ts';
import { DECISION_HANDLERS } from './decision-handlers.ts';
import { exitHandler } from './exit.ts';
import type { OperationHandler } from './handler.ts';
import { handoffHandler } from './handoffs.ts';
import { importHandler } from './import.ts';
import { LEDGER_HANDLERS } from './ledger-handlers.ts';
import { PIPELINE_HANDLERS } from './pipeline-handlers.ts';
import { projectBriefHandler } from './project-brief-handler.ts';
import { reconcileHandler } from './reconcile.ts';
import { resultHandler } from './result-handler.ts';
import { RUN_HANDLERS } from './start-run.ts';
import { RUNBOOK_HANDLERS } from './runbooks.ts';
import { statusHandler } from './status.ts';
import { TASK_HANDLERS } from './tasks.ts';
import { worktreeHandler } from './worktree-handler.ts';
import { WORKFLOW_HANDLERS } from './workflow.ts';
import { WORKTREE_HANDLERS } from './worktrees.ts';
import { WRITEBACK_HANDLERS } from './records.ts';

/** Who answers which operation. */
export const OPERATION_HANDLERS: ReadonlyMap<string, OperationHandler> = new Map(
  Object.entries({
    ...TASK_HANDLERS,
    ...WRITEBACK_HANDLERS,
    ...LEDGER_HANDLERS,
    ...AGENT_HANDLERS,
    ...AGENT_REPORT_HANDLERS,
    ...AGENT_RUN_HANDLERS,
    ...PIPELINE_HANDLERS,
    ...DECISION_HANDLERS,
    ...RUN_HANDLERS,
    ...RUNBOOK_HANDLERS,
    ...WORKFLOW_HANDLERS,
    ...WORKTREE_HANDLERS,
    status_get: statusHandler,
    costs_get: costsHandler,
    project_brief: projectBriefHandler,
    task_brief: briefHandler,
    task_import: importHandler,
    task_worktree: worktreeHandler,
    reconcile: reconcileHandler,
    exit_signal: exitHandler,
    handoff_send: handoffHandler,
    result_submit: resultHandler,
  }),
);
