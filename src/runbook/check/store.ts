import { findStoreUrlProblem } from '../../protocol/store-url.ts';
import type { RunbookSubject } from './subject.ts';

/** Requires a project name for a shared store: hosts find each other by name, because paths differ between machines. */
export function checkStore(subject: RunbookSubject): void {
  const { store, project } = subject.value;
  if (store === undefined) return;
  const fault = findStoreUrlProblem(store);
  if (fault !== undefined) return subject.report('invalid-value', ['store'], fault.message, fault.hint);
  if (project !== undefined || subject.hasField('project')) return;
  const hint =
    'Write `project = "NAME"` above it. A project with a ledger keeps the id that `baton store status` shows.';
  subject.report('runbook/store-without-project', ['store'], '`store` needs the name of the project', hint);
}
