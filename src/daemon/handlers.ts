import { AGENT_HANDLERS } from './agent-handlers.ts';
import { AGENT_REPORT_HANDLERS } from './agent-report-handlers.ts';
import { AGENT_RUN_HANDLERS } from './agent-run-handlers.ts';
import { briefHandler } from './brief-handler.ts';
import { costsHandler } from './costs-handler.ts';
import { DECISION_HANDLERS } from './decision-handlers.ts';
import { exitHandler } from './exit-handler.ts';
import type { OperationHandler } from './handler.ts';
import { handoffHandler } from './handoff-handler.ts';
import { importHandler } from './import-handler.ts';
import { LEDGER_HANDLERS } from './ledger-handlers.ts';
import { PIPELINE_HANDLERS } from './pipeline-handlers.ts';
import { projectBriefHandler } from './project-brief-handler.ts';
import { reconcileHandler } from './reconcile-handler.ts';
import { resultHandler } from './result-handler.ts';
import { RUN_HANDLERS } from './run-handlers.ts';
import { RUNBOOK_HANDLERS } from './runbook-handlers.ts';
import { statusHandler } from './status-handler.ts';
import { TASK_HANDLERS } from './task-handlers.ts';
import { worktreeHandler } from './worktree-handler.ts';
import { WORKFLOW_HANDLERS } from './workflow-handlers.ts';
import { WORKTREE_HANDLERS } from './worktree-handlers.ts';
import { WRITEBACK_HANDLERS } from './writeback-handlers.ts';

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
