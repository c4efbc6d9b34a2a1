import { describe, expect, it } from 'vitest';
import type { Caller } from '../caller.ts';
import { given } from '../given.cases.ts';
import { claim, create, operator, session, system, worker } from '../say.cases.ts';
import * as runs from './say.cases.ts';
import { pipelineOfShell } from './steer-pipeline.ts';

const started = given([
  [runs.startAgent(), operator],
  [runs.startAgent(runs.agentPlan({ name: 'other' }), 'a2'), operator],
  [runs.started('a1'), system],
]);

describe('agents and sessions', () => {
  it('report only about themselves', () => {
    const strangers: readonly Caller[] = [runs.agent('a2'), runs.supervisor('a2')];
    for (const caller of strangers) {
      started.when(runs.signal('complete', 'a1'), caller).thenRefused('not-your-agent');
      started.when(runs.report({ kind: 'stop' }, 'a1'), caller).thenRefused('agent a1 belongs to another session');
    }
    given([
      [create(), operator],
      [claim(), worker],
      [runs.startAgent(), operator],
    ])
      .when(runs.signal('complete', 'a1'), session())
      .thenRefused('not-your-agent');
  });

  it('may report that they are idle or want to stop; only their supervisor reports the rest', () => {
    const said = started.when(runs.report({ kind: 'idle', why: 'stop' }), runs.agent()).thenTypes(['AgentIdle']);
    expect(said.answer).toBeNull();
    started
      .when(runs.exited('a1'), runs.agent())
      .thenRefused('the token of this agent does not allow the report exited');
    started.when(runs.exited('a1'), operator).thenRefused('forbidden');
    started.when(runs.report({ kind: 'stop' }), operator).thenRefused('no-such-agent');
  });

  it("cannot signal without a run of Baton's and without a claim", () => {
    given([]).when(runs.signal('complete'), session()).thenRefused('there is no task A');
    given([]).when(runs.signal('complete', 'ghost'), operator).thenRefused('no-such-agent');
    given([]).when(runs.signal('complete'), operator).thenRefused('no-claim');
  });

  it('signal once: a repeat gets the first answer', () => {
    const once = started.when(runs.signal('complete', undefined, 'done'), runs.agent()).thenTypes(['AgentSignalled']);
    expect(once.answer).toEqual({ kind: 'complete' });
    const again = started.when(runs.signal('complete', undefined, 'done'), runs.agent()).then([]);
    expect(again.answer).toEqual({ kind: 'complete' });
  });

  it('under a claim taken by hand can still signal', () => {
    const held = () =>
      given([
        [create(), operator],
        [claim(), worker],
      ]);
    held().when(runs.signal('continue'), session()).then([]);
    held()
      .when(runs.signal('complete'), session())
      .thenTypes(['AgentSessionCompleted', 'ClaimCompleted', 'PhaseMoved']);
    held()
      .when(runs.signal('complete', undefined, undefined, true), session())
      .thenRefused('cannot complete: missing exit signal');
    held().when(runs.signal('continue'), session('s9')).thenRefused('claim-ended');
  });
});

describe('the sandbox of a session', () => {
  it('is recorded when its process has started, with notes of bounded length', () => {
    const notes = [`${'x'.repeat(400)}\n\uD800`, ...Array.from({ length: 30 }, (_, i) => `note\u001B[2J ${i}`)];
    const first = `${'x'.repeat(300)}…`;
    const others = Array.from({ length: 19 }, (_, i) => `note [2J ${i}`);
    const process = { start: 1, supervisor: 'supervisor of process a1 1', process: 'process a1 1' };
    const sandbox = { sandbox: 'bubblewrap', network: 'full', limits: 'rlimits', sandbox_notes: [first, ...others] };
    given([[runs.startAgent(), operator]])
      .when(runs.started('a1', 1, runs.boxed('bubblewrap', { notes })), system)
      .then([{ type: 'AgentStarted', data: { agent_id: 'a1', ...process, ...sandbox } }]);
  });

  it('is in the state, with the hosts that it requested', () => {
    const hosts = Array.from({ length: 60 }, (_, i) => ({ host: `h${i}.org\n`, allowed: i, refused: 0 }));
    const { state } = given([
      [runs.startAgent(), operator],
      [runs.started('a1', 1, runs.boxed('container', { network: 'none', notes: ['no limits'] })), system],
      [runs.exited('a1', { hosts, sandbox: runs.boxed('container') }), runs.supervisor()],
    ]);
    const run = state.agents.get('a1');
    expect(run?.sandbox).toBe('container');
    expect(run?.access).toEqual({ network: 'none', limits: 'rlimits', notes: ['no limits'] });
    expect(run?.exit?.hosts).toHaveLength(50);
    expect(run?.exit?.hosts?.[0]).toEqual({ host: 'h59.org', allowed: 59, refused: 0 });
  });

  it('is unknown if its supervisor reports none', () => {
    const { state } = given([
      [runs.startAgent(), operator],
      [runs.started('a1'), system],
      [runs.exited('a1'), runs.supervisor()],
    ]);
    expect(state.agents.get('a1')).not.toHaveProperty('sandbox');
    expect(state.agents.get('a1')?.exit).not.toHaveProperty('hosts');
  });
});

describe('an effect that was never requested', () => {
  it.each([
    runs.finish('c'),
    runs.fire('t'),
    runs.deliver('m'),
    runs.prepared('p', 's'),
    runs.unprepared('p', 's'),
    runs.notified('n'),
    runs.startFailed('a'),
  ])('$kind is accepted, and changes nothing', (command) => {
    expect(given([]).when(command, system).then([]).answer).toBeNull();
  });

  it('is refused for the supervisor of another command', () => {
    given([]).when(runs.finish('c'), runs.supervisor('other')).thenRefused('forbidden');
    given([]).when(runs.started('ghost'), system).thenRefused('no-such-agent');
  });
});

describe('long texts', () => {
  it('are cut to their end, never inside a character', () => {
    const output = `${'x'.repeat(10)}😀${'y'.repeat(3999)}`;
    const then = started.when(runs.exited('a1', { output }), runs.supervisor()).thenTypes(['AgentExited']);
    expect(then.answer).toBeNull();
    const kept = started.state.agents.get('a1')?.exit?.output ?? '';
    expect(kept).toBe('y'.repeat(3999));
    expect(kept.isWellFormed()).toBe(true);
  });
});

describe('a shell command', () => {
  it('is a pipeline of one step', () => {
    expect(pipelineOfShell('tidy', 'rm -r x').pipelines['tidy']?.steps).toEqual([
      { name: 'run', run: { kind: 'shell', command: 'rm -r x' } },
    ]);
  });

  it('has its arguments as variables, empty ones too', () => {
    const plan = pipelineOfShell('hello', 'echo ${var.name}', ['name', 'loud']);
    const command = { id: 'p1', name: 'hello', plan, vars: { name: 'Ada', loud: '' } };
    const { state } = given([[{ kind: 'start-pipeline', command }, operator]]);
    expect(state.pipelines.get('p1')?.vars).toEqual({ name: 'Ada', loud: '' });
  });
});
