import { describe, expect, it } from 'vitest';
import { EntryFilter, type EntryQuery } from './entry-filter.ts';
import type { JsonObject } from './format/canonical-json.ts';

interface Written {
  readonly type: string;
  readonly actor: string;
  readonly data: JsonObject;
}

const entry = (type: string, data: JsonObject, actor = 'system:engine'): Written => ({ type, actor, data });

const LEDGER: readonly Written[] = [
  entry('TaskCreated', { task_id: 'A', title: 'Say "Hello"' }, 'operator:ann'),
  entry('TaskCreated', { task_id: 'B', title: 'other' }, 'operator:annabel'),
  entry('AgentRequested', { agent_id: 'a1', task: { task_id: 'A', epoch: 1 } }),
  entry('AgentRequested', { agent_id: 'b1', task: { task_id: 'B', epoch: 1 } }),
  entry('AgentStarted', { agent_id: 'a1' }),
  entry('AgentStarted', { agent_id: 'b1' }),
  entry('TimerSet', { timer_id: 't1', purpose: { kind: 'idle', agent_id: 'a1' } }),
  entry('DecisionOpened', { decision_id: 'd1', agent_id: 'a1', task_id: null }),
  entry('DecisionResolved', { decision_id: 'd1', option: 1 }, 'operator:ann'),
  entry('ResultSubmitted', { task_id: 'B', result: { task_id: 'A' } }, 'session:s1'),
];

const accepted = (query: EntryQuery, known: readonly string[] = [], entries = LEDGER): number[] => {
  const filter = new EntryFilter(query, known);
  return entries.flatMap((each) => (filter.accepts(each, () => JSON.stringify(each)) ? LEDGER.indexOf(each) + 1 : []));
};

describe("the entries that match a reader's filter", () => {
  it.each<[EntryQuery, number[]]>([
    [{}, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    [{ types: ['AgentStarted', 'TimerSet'] }, [5, 6, 7]],
    [{ actor: 'operator:ann' }, [1, 9]],
    [{ actor: 'operator' }, [1, 2, 9]],
    [{ text: 'HELLO' }, [1]],
    [{ text: 'Say "Hello"' }, [1]],
    [{ task_id: 'A' }, [1, 3, 5, 7, 8, 9]],
    [{ task_id: 'A', actor: 'operator' }, [1, 9]],
    [{ task_id: 'C' }, []],
  ])('%j', (query, expected) => {
    expect(accepted(query)).toEqual(expected);
  });

  it('include those of a run, of runs inside it and of its decisions, but not of an enclosing run', () => {
    const ledger = [
      entry('PipelineStarted', { pipeline_id: 'p1', parent: null }),
      entry('PipelineStarted', { pipeline_id: 'p2', parent: { pipeline_id: 'p1', step: 'x' } }),
      entry('AgentRequested', { agent_id: 'a1', owner: { pipeline_id: 'p2', step: 'y' } }),
      entry('AgentRequested', { agent_id: 'a2', owner: { pipeline_id: 'p1', step: 'z' } }),
      entry('AgentStarted', { agent_id: 'a1' }),
      entry('DecisionOpened', { decision_id: 'd1', agent_id: 'a1', pipeline_id: 'p2' }),
      entry('DecisionResolved', { decision_id: 'd1', option: 1 }),
      entry('CommandRequested', { command_id: 'c1', subject: { kind: 'gate', agent_id: 'a2' } }),
      entry('CommandCancelled', { command_id: 'c1' }),
    ];
    const of = (run_id: string): number[] => {
      const filter = new EntryFilter({ run_id });
      return ledger.flatMap((each, i) => (filter.accepts(each, () => '') ? [i + 1] : []));
    };
    expect(of('p1')).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(of('p2')).toEqual([2, 3, 5, 6, 7]);
    expect(of('a1')).toEqual([3, 5, 6, 7]);
    expect(of('a2')).toEqual([4, 8, 9]);
  });

  it('include those of agents that began earlier, if their ids are known', () => {
    const newest = LEDGER.slice(4);
    expect(accepted({ task_id: 'A' }, [], newest)).toEqual([]);
    expect(accepted({ task_id: 'A' }, ['a1'], newest)).toEqual([5, 7, 8, 9]);
  });
});
