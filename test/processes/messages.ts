/** A minimal thought record. */
export function record(taskId: string, commit: string, more: Readonly<Record<string, unknown>> = {}) {
  return {
    task_id: taskId,
    branch: `feature/${taskId.toLowerCase().replaceAll('.', '-')}`,
    commit_sha: commit,
    tests_run: ['npm test'],
    summary: 'It is done. The tests pass. Nothing is left over.',
    blockers: [],
    files_changed: [],
    related_thought_records: [],
    ...more,
  };
}

export function exitSignal(phase: string, reason = 'completed', more: Readonly<Record<string, unknown>> = {}) {
  return { protocol: 'apm2_agent_exit', version: '1.0.0', phase_completed: phase, exit_reason: reason, ...more };
}
