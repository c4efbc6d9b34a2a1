import { describe, expect, it } from 'vitest';
import { createAgentSessionCompleted } from '../agent-session-completed.ts';
import { createExitSignal } from './exit-signal-shape.ts';
import {
  exitProtocolEnabled,
  parseExitSignal,
  parseExitSignalIfEnabled,
  renderExitSignal,
  validateExitSignal,
} from './exit-signal.ts';
import { nextPhase, type Phase, PHASES } from '../phase.ts';

describe('createExitSignal', () => {
  const signal = createExitSignal('IMPLEMENTATION', 'completed');

  it('sets the four required fields', () => {
    expect(JSON.parse(JSON.stringify(signal))).toEqual({
      protocol: 'apm2_agent_exit',
      version: '1.0.0',
      phase_completed: 'IMPLEMENTATION',
      exit_reason: 'completed',
    });
  });

  it('adds the optional fields', () => {
    const full = signal
      .withPrUrl('https://github.com/org/repo/pull/123')
      .withEvidence('evidence/a.yaml')
      .withNotes('Implementation complete');
    expect(JSON.parse(JSON.stringify(full))).toEqual({
      protocol: 'apm2_agent_exit',
      version: '1.0.0',
      phase_completed: 'IMPLEMENTATION',
      exit_reason: 'completed',
      pr_url: 'https://github.com/org/repo/pull/123',
      evidence_bundle_ref: 'evidence/a.yaml',
      notes: 'Implementation complete',
    });
  });

  it('does not change the signal that it extends', () => {
    signal.withNotes('other');
    expect('notes' in signal).toBe(false);
    expect(() => Object.assign(signal, { notes: 'x' })).toThrow(TypeError);
  });

  it('creates a signal that validates, renders and parses', () => {
    const full = signal.withNotes('a').withNotes('b');
    expect(validateExitSignal(full)).toEqual([]);
    expect(parseExitSignal(renderExitSignal(full))).toEqual({ ok: true, value: { ...full } });
  });

  it('does not check; validateExitSignal does', () => {
    expect(validateExitSignal(signal.withPrUrl('ftp://h'))).toEqual([
      "pr_url must start with 'https://': got 'ftp://h'",
    ]);
  });
});

describe('renderExitSignal', () => {
  it('renders the form in the document', () => {
    expect(renderExitSignal(createExitSignal('REVIEW', 'blocked').withNotes('n'))).toBe(
      '{\n  "protocol": "apm2_agent_exit",\n  "version": "1.0.0",\n  "phase_completed": "REVIEW",\n  "exit_reason": "blocked",\n  "notes": "n"\n}',
    );
  });
});

describe('nextPhase', () => {
  it.each([
    ['DRAFT', 'IMPLEMENTATION'],
    ['IMPLEMENTATION', 'CI_PENDING'],
    ['CI_PENDING', 'READY_FOR_REVIEW'],
    ['READY_FOR_REVIEW', 'REVIEW'],
    ['REVIEW', 'READY_FOR_MERGE'],
    ['READY_FOR_MERGE', 'COMPLETED'],
    ['COMPLETED', undefined],
    ['BLOCKED', undefined],
  ] as const)('%s completed goes to %s', (phase, next) => {
    expect(nextPhase(phase, 'completed')).toBe(next);
  });

  it.each(PHASES.filter((phase) => phase !== 'COMPLETED'))('%s blocked or in error goes to BLOCKED', (phase) => {
    expect(nextPhase(phase, 'blocked')).toBe('BLOCKED');
    expect(nextPhase(phase, 'error')).toBe('BLOCKED');
  });

  it('never leaves COMPLETED', () => {
    expect(nextPhase('COMPLETED', 'blocked')).toBeUndefined();
    expect(nextPhase('COMPLETED', 'error')).toBeUndefined();
  });
});

describe('AGENT_EXIT_PROTOCOL_ENABLED', () => {
  it.each(['true', 'True', 'TRUE', '1', 'yes', 'YES', 'Yes'])('is on for %j, whatever the project sets', (flag) => {
    expect(exitProtocolEnabled(flag, false)).toBe(true);
  });

  it.each(['false', '0', 'no', 'on', 'y', 't', ' true', 'true ', '2', 'enabled', 'null'])(
    'is off for %j, whatever the project sets',
    (flag) => {
      expect(exitProtocolEnabled(flag, true)).toBe(false);
    },
  );

  it.each([undefined, ''])('follows the project for %j, and is off if the project sets nothing', (flag) => {
    expect(exitProtocolEnabled(flag, true)).toBe(true);
    expect(exitProtocolEnabled(flag, false)).toBe(false);
    expect(exitProtocolEnabled(flag)).toBe(false);
  });
});

describe('parseExitSignalIfEnabled', () => {
  const text = renderExitSignal(createExitSignal('REVIEW', 'completed'));

  it('parses if the flag is on', () => {
    expect(parseExitSignalIfEnabled(text, 'true')).toEqual(parseExitSignal(text));
    expect(parseExitSignalIfEnabled(text, undefined, true)).toEqual(parseExitSignal(text));
    expect(parseExitSignalIfEnabled('{', '1')).toEqual(parseExitSignal('{'));
  });

  it.each(['x'.repeat(65_537), '{', text, undefined])('refuses everything if the flag is off (%#)', (input) => {
    expect(parseExitSignalIfEnabled(input, 'false')).toMatchObject({
      ok: false,
      problems: [
        {
          code: 'exit-protocol-disabled',
          message: 'exit signal validation is disabled (AGENT_EXIT_PROTOCOL_ENABLED=false)',
        },
      ],
    });
  });
});

describe('agentSessionCompleted', () => {
  const facts = { eventId: 'e-1', at: '2026-01-26T12:00:00.000Z' };

  it('contains session, actor and next phase', () => {
    const signal = createExitSignal('IMPLEMENTATION', 'completed');
    expect(createAgentSessionCompleted('session-123', 'actor-456', signal, facts)).toEqual({
      event_id: 'e-1',
      event_type: 'AgentSessionCompleted',
      timestamp: '2026-01-26T12:00:00.000Z',
      source: 'agent_exit_protocol',
      session_id: 'session-123',
      actor_id: 'actor-456',
      phase_completed: 'IMPLEMENTATION',
      exit_reason: 'completed',
      next_phase: 'CI_PENDING',
    });
  });

  it('contains task, epoch and the optional fields', () => {
    const signal = createExitSignal('REVIEW', 'error').withPrUrl('https://h/1').withEvidence('e').withNotes('n');
    expect(createAgentSessionCompleted('s', 'a', signal, { ...facts, taskId: 'T1', epoch: 0 })).toMatchObject({
      task_id: 'T1',
      epoch: 0,
      next_phase: 'BLOCKED',
      pr_url: 'https://h/1',
      evidence_bundle_ref: 'e',
      notes: 'n',
    });
  });

  it.each<Phase>(['COMPLETED', 'BLOCKED'])('has no next phase after %s', (phase) => {
    const event = createAgentSessionCompleted('s', 'a', createExitSignal(phase, 'completed'), facts);
    expect(event.next_phase).toBeNull();
  });
});
