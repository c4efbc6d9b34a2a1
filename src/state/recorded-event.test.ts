import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../ledger/format/canonical-json.ts';
import { LEDGER_LEVEL } from '../protocol/fleet.ts';
import { findUnknownType, toRecordedEvent } from './recorded-event.ts';

const read = (type: string, data: JsonObject) =>
  toRecordedEvent({ v: 1, project: 'p', prev: '', cause: null, seq: 7, at: '', actor: 'system:x', type, data });

const exited = { agent_id: 'a', start: 1, code: 0, signal: null, timed_out: false, blocks_used: false, output: null };
const timer = { timer_id: 't', due: '2026-01-01T00:00:00.000Z' };
const checks = { checks_id: 'c', task_id: 'A', head: 'f' };

describe('an entry that is read', () => {
  it.each<[string, JsonObject, string]>([
    ['AgentIdle', { agent_id: 'a' }, 'data.why is not one of stop, waiting, quiet'],
    ['AgentIdle', { agent_id: 1, why: 'stop' }, 'data.agent_id is not a text'],
    ['AgentIdle', { agent_id: null, why: 'stop' }, 'data.agent_id is not a text'],
    ['AgentExited', { ...exited, code: '0' }, 'data.code is not a number'],
    ['AgentExited', { ...exited, timed_out: 0 }, 'data.timed_out is not a boolean'],
    ['ChecksRequested', { ...checks, checks: {} }, 'data.checks is not a list'],
    ['ChecksRequested', { ...checks, checks: [{ name: 'a' }, { run: 'x' }] }, 'data.checks[1].name is not a text'],
    ['TimerSet', { ...timer, purpose: { kind: 'nap' } }, 'data.purpose is not handler, reset, step,'],
    ['TimerSet', { ...timer, purpose: { kind: 'day', day: 1 } }, 'data.purpose.day is not a text'],
    ['PipelineStarted', { pipeline_id: 'p', name: 'n', vars: { x: 1 } }, 'data.vars.x is not a text'],
    ['WorkersConfigured', {}, 'data.workers is not a list'],
  ])('is refused with its number and place: %s %j', (type, data, what) => {
    expect(() => read(type, data)).toThrow(`entry 7 (${type}) cannot be read: ${what}`);
  });

  it('keeps nulls, and fields of later versions', () => {
    const data = { ...exited, mood: 'good' };
    expect(read('AgentExited', data)).toMatchObject({ seq: 7, type: 'AgentExited', data });
  });

  it('stops decisions if its type, or the level that it raises, is of a later version', () => {
    const types = ['TaskCreated', 'KeyAdded', 'OutsideCheckpointMissing', 'MoonLanded', 'constructor'];
    expect(types.map((type) => findUnknownType({ type, data: {} }))).toEqual([
      undefined,
      undefined,
      undefined,
      'MoonLanded',
      'constructor',
    ]);
    const raised = (level: number) => findUnknownType({ type: 'LevelRaised', data: { level } });
    expect([raised(LEDGER_LEVEL), raised(LEDGER_LEVEL + 1)]).toEqual([undefined, `LevelRaised to ${LEDGER_LEVEL + 1}`]);
  });

  it('is not folded if its type belongs to the ledger, or is a name that every object inherits', () => {
    expect([read('OutsideCheckpointMissing', {}), read('constructor', {})]).toEqual([undefined, undefined]);
  });
});
