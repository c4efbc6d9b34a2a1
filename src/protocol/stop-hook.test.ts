import { describe, expect, it } from 'vitest';
import {
  isStopHookActive,
  parseStopHookInput,
  parseStopHookOutput,
  renderStopHookInput,
  renderStopHookOutput,
} from './stop-hook.ts';

describe('stop hook input', () => {
  it('returns only the fields that Baton reads', () => {
    const text =
      '{"stop_hook_active":true,"session_id":"s","permission_mode":"plan","__proto__":{"polluted":1},"x":[[[]]]}';
    expect(parseStopHookInput(text)).toEqual({ ok: true, value: { stop_hook_active: true, session_id: 's' } });
    expect('polluted' in {}).toBe(false);
  });

  it('treats null as absent', () => {
    expect(parseStopHookInput('{"stop_hook_active":null,"cwd":null}')).toEqual({ ok: true, value: {} });
  });

  it('is lenient: the last of two equal fields counts, and half a character is replaced', () => {
    expect(parseStopHookInput('{"cwd":"a","cwd":"b","last_assistant_message":"x\\ud83d"}')).toEqual({
      ok: true,
      value: { cwd: 'b', last_assistant_message: 'x\ufffd' },
    });
  });

  it('accepts deep nesting in other fields', () => {
    const deep = `{"stop_hook_active":true,"x":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`;
    const parsed = parseStopHookInput(deep);
    expect(parsed.ok && renderStopHookInput(parsed.value)).toBe('{"stop_hook_active":true}');
  });

  it.each([
    ['{"stop_hook_active":"true"}', 'Field stop_hook_active must be a boolean', 'stop_hook_active'],
    ['{"session_id":1}', 'Field session_id must be a string', 'session_id'],
    ['[]', 'Stop hook input must be a JSON object', ''],
    ['null', 'Stop hook input must be a JSON object', ''],
    ['{', 'Stop hook input must be a JSON object', ''],
    ['', 'Stop hook input must be a JSON object', ''],
  ])('%j: %s', (text, message, path) => {
    expect(parseStopHookInput(text)).toMatchObject({ ok: false, problems: [{ message, path }] });
  });

  it('is read up to 4 MiB', () => {
    const input = (bytes: number) => '{"last_assistant_message":""}'.replace('""', `"${'x'.repeat(bytes - 29)}"`);
    expect(parseStopHookInput(input(4_194_304))).toMatchObject({ ok: true });
    expect(parseStopHookInput(input(4_194_305))).toMatchObject({
      problems: [{ message: 'input too large: 4194305 bytes > 4194304 bytes maximum' }],
    });
  });
});

describe('isStopHookActive', () => {
  it.each([
    ['{"stop_hook_active":true}', true],
    ['\ufeff{"stop_hook_active":true}', true],
    ['{"stop_hook_active":false}', false],
    ['{"stop_hook_active":null}', false],
    ['{"stop_hook_active":"true"}', false],
    ['{"stop_hook_active":1}', false],
    ['{}', false],
    ['', false],
    ['rubbish', false],
    ['{"__proto__":{"stop_hook_active":true}}', false],
  ])('%j is %s', (text, active) => {
    expect(isStopHookActive(text)).toBe(active);
    expect(isStopHookActive(new TextEncoder().encode(text))).toBe(active);
  });

  it('is false for what is not UTF-8', () => {
    expect(isStopHookActive(new Uint8Array([0xff]))).toBe(false);
  });
});

describe('stop hook output', () => {
  it('is empty to allow', () => {
    expect(renderStopHookOutput({ decision: 'allow' })).toBe('');
    for (const nothing of ['', ' \n', new Uint8Array(0)]) {
      expect(parseStopHookOutput(nothing)).toEqual({ ok: true, value: { decision: 'allow' } });
    }
  });

  it('gives the reason of a block, in one line', () => {
    const text = renderStopHookOutput({ decision: 'block', reason: 'Not yet.\n"é"' });
    expect(text).toBe('{"decision":"block","reason":"Not yet.\\n\\"é\\""}');
    expect(parseStopHookOutput(text)).toEqual({ ok: true, value: { decision: 'block', reason: 'Not yet.\n"é"' } });
  });

  it.each([
    ['{"decision":"allow","reason":"x"}', 'Invalid decision: allow (expected: block)'],
    ['{"decision":"block"}', 'Missing required field: reason'],
    ['{"decision":"block","reason":""}', 'Field reason must not be empty'],
    ['block', 'invalid JSON: expected a value at line 1 column 1'],
  ])('%j: %s', (text, message) => {
    expect(parseStopHookOutput(text)).toMatchObject({ ok: false, problems: [{ message }] });
  });
});
