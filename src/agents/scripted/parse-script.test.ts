import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseScript } from './script.ts';
import { STEPS, STEPS_WITHOUT_INPUT } from './steps.ts';

/** Returns the place, message and hint of the first problem. */
function wrong(text: string): string {
  const parsed = parseScript(text);
  if (parsed.ok) return 'nothing';
  const [{ line, column, message, hint }] = parsed.problems;
  return `${line}:${column} ${message} | ${hint}`;
}

describe('a script', () => {
  it('accepts every step', () => {
    const text = `
steps:
  - say: Hello
  - run: make
  - write: { path: a.txt, text: 012 }
  - read: a.txt
  - commit: Save
  - signal: complete
  - signal: { kind: escalate, message: Help }
  - exit: IMPLEMENTATION
  - exit: { phase: REVIEW, reason: blocked, notes: n, pr_url: "https://x.y/1", evidence: e.yaml }
  - handoff: handoff.xml
  - thought: thought.json
  - result: result.yaml
  - stop
  - wait
  - plan: [Look, { content: Fix, status: in_progress, priority: high }]
  - mode: plan
  - ask: May I?
  - error: rate_limited
  - error: { kind: unauthorized, message: No, reset_at: "2026-11-15T12:00:00Z" }
  - use: 100
  - use: { input: 1, output: 2, cached: 3, cost: $0.25 }
  - hang
  - crash
  - crash: 3
  - print: "}{"
  - flood: 1000
  - flood: { updates: 5 }
  - fork: sleep 60
  - fork: { run: sleep 60, setsid: true }
  - ignore: SIGTERM
  - ignore: cancel
  - rpc: { jsonrpc: "2.0", id: 1, result: [] }
  - rpc: "}{"
tools: client
permissions: ask
on_block:
  - signal: complete
on_message:
  - say: Yes
`;
    const parsed = parseScript(text, { isAcp: true });
    if (!parsed.ok) throw new Error(parsed.problems[0].message);
    const { steps, onBlock, onMessage } = parsed.value;
    expect(new Set(steps.map((step) => step.do))).toEqual(new Set([...Object.keys(STEPS), ...STEPS_WITHOUT_INPUT]));
    expect(steps).toContainEqual({ do: 'signal', with: { kind: 'complete' } });
    expect(steps).toContainEqual({ do: 'write', with: { path: 'a.txt', text: '012' } });
    expect(steps).toContainEqual({ do: 'crash', with: 3 });
    expect(steps).toContainEqual({ do: 'flood', with: { bytes: 1000 } });
    expect(steps).toContainEqual({ do: 'rpc', with: { jsonrpc: '2.0', id: 1, result: [] } });
    expect(parsed.value).toMatchObject({ tools: 'client', permissions: 'ask' });
    expect([onBlock?.length, onMessage.length]).toEqual([1, 1]);
  });

  it('may be a plain list, and JSON', () => {
    expect(parseScript('- say: Hello\n- stop\n')).toMatchObject({
      ok: true,
      value: { steps: [{ do: 'say' }, { do: 'stop' }] },
    });
    expect(parseScript('[{"say": "Hello"}]')).toMatchObject({ ok: true });
  });

  it.each([
    ['- plan: [{ status: pending }]', '1:10 plan[0]: missing content | Shows a plan'],
    ['- sayy: Hello', '1:3 Unknown step: sayy | Did you mean `say`?'],
    ['- say: Hello\n- stop: now', '2:9 stop takes nothing | Write only: - stop'],
    ['- say: Hello\n  run: make', '1:3 A step is one thing to do | Begin each step with a dash of its own.'],
    ['- signal: finished', '1:11 Invalid signal.kind: finished (expected: complete, escalate, continue) |'],
    ['- write: { path: x }', '1:10 Missing required field: write.text | Add it. The whole content.'],
    ['- commit', '1:3 Missing required field: commit | Add it. Commits everything with this message, as a tool call.'],
    ['- flood: lots', '1:10 Field flood.bytes must be a whole number | Prints this many `bytes`'],
    ['on_blok:\n  - stop', '1:1 Unknown part: on_blok | Did you mean `on_block`?'],
    ['steps: go', '1:8 steps must be a list of steps | Write a list, one step a line: `- say: Hello`.'],
    ['on_block:\n  - stop', '1:1 The script has no steps |'],
    ['- say: Hello\n- rpc: {}', '2:3 rpc works only with ACP | Play the script with: baton agent play --acp'],
    ['- flood: { updates: 3 }', '1:3 flood.updates works only with ACP |'],
    ['- ignore: cancel', '1:3 ignore: cancel works only with ACP |'],
    ['tools: client\nsteps: [stop]', '1:1 tools works only with ACP |'],
    ['permissions: maybe\nsteps: [stop]', '1:14 Invalid permissions: maybe | Write one of: none, ask.'],
    ['- say: "', '1:9 Missing closing "quote |'],
  ])('%j is refused with its place', (text, problem) => {
    expect(wrong(text)).toContain(problem);
  });

  it('reports every problem at once', () => {
    expect(parseScript('- a\n- b\n- say: c\n- d\n')).toMatchObject({ ok: false, problems: { length: 3 } });
  });
});

describe('the examples', () => {
  const folder = join(import.meta.dirname, '../../../examples/agents');
  it.each(globSync('**/*.yaml', { cwd: folder }))('%s parses, and does what its name states', (file) => {
    const parsed = parseScript(readFileSync(join(folder, file), 'utf8'), { isAcp: file.startsWith('acp') });
    expect(parsed.ok).toBe(!file.includes('broken'));
  });
});
