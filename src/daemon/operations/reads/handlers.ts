import { agentLogHandler } from './agent-log.ts';
import { entriesHandler } from './entries-read.ts';
import { exportHandler, proofHandler } from './ledger-export.ts';
import { sessionViewHandler } from './session-view.ts';
import { snapshotHandler } from './state-snapshot.ts';
import { taskCheckHandler } from './task-check.ts';

export const READ_HANDLERS = {
  state_snapshot: snapshotHandler,
  entries_read: entriesHandler,
  ledger_export: exportHandler,
  task_proof: proofHandler,
  agent_log: agentLogHandler,
  session_view: sessionViewHandler,
  task_check: taskCheckHandler,
};
