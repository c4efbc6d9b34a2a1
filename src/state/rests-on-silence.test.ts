import { describe, expect, it } from 'vitest';
import { event } from './event.ts';
import { judgesBySilence } from './outcome.ts';

const EXITED = { agent_id: 'a', start: 1, code: 0, signal: null, timed_out: false, blocks_used: false, output: null };
const ENDED = { task_id: 'T', epoch: 1, session_id: 's', reason: null };

describe('a judgement that rests on silence', () => {
  it.each([
    ['the end of a process', event('AgentExited', EXITED)],
    ['a start that failed', event('AgentStartFailed', { agent_id: 'a', start: 1, reason: 'too late' })],
    ['a claim that was not renewed', event('ClaimExpired', ENDED)],
    [
      'a timer that ran out',
      event('TimerFired', { timer_id: 't', purpose: { kind: 'step', pipeline_id: 'p', step: 's', visit: 1 } }),
    ],
  ])('is %s', (_, judged) => {
    expect(judgesBySilence([event('AgentStop', { agent_id: 'a' }), judged])).toBe(true);
  });

  it.each([
    ['a signal', event('AgentSignalled', { agent_id: 'a', kind: 'complete', message: null })],
    ['a claim that its holder ended', event('ClaimReleased', ENDED)],
    ['a claim that an operator ended', event('ClaimRevoked', ENDED)],
  ])('is not %s', (_, said) => {
    expect(judgesBySilence([said])).toBe(false);
  });
});
