import { describe, expect, it } from 'vitest';
import { runCli } from '../../test/run-cli.ts';
import { renderResult } from '../protocol/result.ts';

describe('in the shell of a session that judges', () => {
  const EXIT = '{"protocol":"apm2_agent_exit","version":"1.0.0","phase_completed":"REVIEW","exit_reason":"completed"}';
  // No daemon can be reached in this place, and none is started.
  const place = { env: { BATON_JUDGE: '1', BATON_STATE_DIR: '/nonexistent' } };

  const AT = '2026-01-01T00:00:00Z';
  const RESULT = renderResult({
    version: '1',
    task_id: 'T001',
    status: 'completed',
    files_modified: [],
    log: ['read it', 'read the tests'].map((message) => ({ level: 'info', message, timestamp: AT })),
    completed_at: AT,
  });

  it.each([
    [['handoff', 'send', '-'], 'handoff_send'],
    [['result', 'submit', '-'], 'result_submit'],
    [['emit', 'exit', EXIT], 'exit_signal'],
    [['merge'], 'merge_request'],
    [['task', 'check'], 'task_check'],
    [['task', 'update', 'W-1', '--status', 'blocked'], 'task_update'],
  ])('%j names the tool', async (argv, tool) => {
    const { code, err, out } = await runCli(argv, RESULT, place);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(`Use the tool \`${tool}\` [unmatched-call]`);
  });
});
