import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { parseEvidenceBundle, renderEvidenceBundle } from './evidence.ts';
import { parseMission, renderMission } from './mission.ts';
import { parseResult } from './result.ts';
import { renderYaml } from './text/yaml.ts';
import { parseThoughtRecord, renderThoughtRecord } from './thought-record.ts';

/** Words that some version of YAML reads as a number, a boolean, a date or null. */
const WORDS = [
  ['1e5', '1E5', '100', '012', '0o14', '0x1F', '0b11', '1_000', '00123', '+1', '-0', '.5', '1.', '1.0', '6.02e23'],
  ['no', 'No', 'NO', 'yes', 'on', 'off', 'y', 'n', 'true', 'True', 'FALSE'],
  ['.inf', '-.Inf', '.nan', '.NaN', '1:30', '12:30:45', '2025-01-15', '2025-01-15T10:30:00Z', '12345678901234567890'],
].flat();

/** Words that YAML reads as null, and so as absent, unless they are quoted. */
const NOTHINGS = ['null', 'Null', 'NULL', '~', ''];

describe('text without quotes in YAML', () => {
  it.each(WORDS)('stays the text %s', (word) => {
    const parsed = parseThoughtRecord(thought({ summary: word, notes: word, tests_run: `[${word}]` }));
    expect(parsed).toMatchObject({ ok: true, value: { summary: word, notes: word, tests_run: [word] } });
  });

  it.each(['no', 'on', 'true', '1e5', '012', '0x1F', '1_000', '1.0', '2025-01-15'])('stays the branch %s', (branch) => {
    expect(parseThoughtRecord(thought({ branch }))).toMatchObject({ ok: true, value: { branch } });
  });

  it.each(['1e5', '0123456', '1234567', '12e34567', '00000000'])('stays the commit %s', (sha) => {
    expect(parseEvidenceBundle(evidence(sha))).toMatchObject({ ok: true, value: { head_sha: sha } });
  });

  it.each(['123', '00123', '1e5', '1.10', '0x1F'])('stays the task %s', (id) => {
    expect(parseThoughtRecord(thought({ task_id: id }))).toMatchObject({ ok: true, value: { task_id: id } });
  });

  it.each(NOTHINGS)('is absent as %j', (word) => {
    const parsed = parseThoughtRecord(thought({ notes: word }));
    expect(parsed.ok && 'notes' in Object(parsed.value)).toBe(false);
    expect(parseThoughtRecord(thought({ summary: word }))).toMatchObject({
      problems: [{ message: 'Missing required field: summary' }],
    });
  });

  it.each(['null', '~', ''])('is no text in a list as %j', (word) => {
    expect(parseThoughtRecord(thought({ tests_run: `\n  - ${word}` }))).toMatchObject({
      problems: [{ message: 'Field tests_run[0] must be a string' }],
    });
  });

  it.each(NOTHINGS.filter((word) => word !== ''))('is the text %s in quotes', (word) => {
    for (const quoted of [`"${word}"`, `'${word}'`]) {
      expect(parseThoughtRecord(thought({ summary: quoted, notes: quoted, tests_run: `[${quoted}]` }))).toMatchObject({
        ok: true,
        value: { summary: word, notes: word, tests_run: [word] },
      });
    }
  });

  it('does not turn quoted text into a number', () => {
    const text = renderMission(mission('x')).replace('timeout: 1', 'timeout: "1"');
    expect(parseMission(text)).toMatchObject({
      problems: [{ message: 'Field timeout must be a non-negative number' }],
    });
  });

  it.each([
    ['2025-01-15T10:30:00Z', undefined],
    ['2025-01-15', 'Invalid completed_at: 2025-01-15 (expected ISO 8601)'],
  ])('is a timestamp as text: %s', (at, error) => {
    const parsed = parseResult(`completed_at: ${at}`);
    const messages = parsed.ok ? [] : parsed.problems.filter(({ path }) => path === 'completed_at');
    expect(messages[0]?.message).toBe(error);
  });
});

describe('names without quotes in YAML', () => {
  it.each(['no', '1e5', '012', 'null', '~', '2025-01-15'])('stay the name %s', (name) => {
    expect(parseMission(`${name}: x`)).toMatchObject({ problems: expect.arrayContaining([unknown(name)]) });
  });
});

describe('a version', () => {
  it.each(['"1"', "'1'"])('is the text 1 as %s', (version) => {
    expect(parseMission(renderMission(mission('x')).replace('"1"', version))).toMatchObject({ ok: true });
  });

  it.each([
    ['1', '1'],
    ['1.0', '1.0'],
    ['0x1', '0x1'],
    ['"2"', '2'],
    ['true', 'true'],
    ['[1]', 'a list'],
  ])('is not %s', (version, said) => {
    expect(parseMission(renderMission(mission('x')).replace('"1"', version))).toMatchObject({
      problems: [{ message: `Unsupported version: ${said} (expected 1)` }],
    });
  });
});

describe('a round trip', () => {
  it.each([...WORDS, ...NOTHINGS, '<<', '=', '- a', 'a: b', '#a', 'a #b', '*a', '&a', '!a', '|', '%a', '@a', '`a'])(
    'keeps the text %j',
    (word) => {
      expect(parseMission(renderMission(mission(word)))).toEqual({ ok: true, value: mission(word) });
    },
  );

  it.each(['1e5', '00123', '12345678', '0e0'])('keeps the commit %s', (head_sha) => {
    const parsed = parseEvidenceBundle(evidence(head_sha));
    expect(parsed.ok && parseEvidenceBundle(renderEvidenceBundle(parsed.value))).toEqual(parsed);
  });

  it('keeps the branch no and the task 00123', () => {
    const parsed = parseThoughtRecord(thought({ branch: 'no', task_id: '00123' }));
    expect(parsed.ok && parseThoughtRecord(renderThoughtRecord(parsed.value))).toEqual(parsed);
  });

  it.each([
    ['control characters', '\0\x01\b\x0b\f\x0e\x1b\x1f\x7f\x80\x9f'],
    ['line breaks of every kind', 'a\rb\r\nc\x85d\u2028e\u2029f'],
    ['what is no character', '\ufeffa\ufffe\uffff\u{1ffff}\u{10ffff}'],
    ['spaces at both ends', '  a  '],
    ['tabs', '\ta\t\n\tb\t\n'],
    ['a blank first line', ' \n'],
    ['blank lines with spaces', 'a\n  \n\t\nb \n\n\n'],
    ['only line breaks', '\n\n\n'],
    ['a line like a document marker', 'a\n---\nb\n...\n'],
    ['a long line', 'word '.repeat(1_000)],
    ['a long text of long lines', `${'word '.repeat(100)}\n`.repeat(20)],
    ['quotes and backslashes', '"\\" \'\' \\n \\'],
  ])('keeps %s', (_, text) => {
    expect(parseMission(renderMission(mission(text)))).toEqual({ ok: true, value: mission(text) });
  });
});

describe('rendered YAML', () => {
  it.each(['1.1', '1.2'] as const)('is text for a reader of YAML %s too', (version) => {
    for (const word of [...WORDS, ...NOTHINGS]) {
      expect(parse(renderYaml({ word, list: [word] }), { version })).toEqual({ word, list: [word] });
    }
  });

  it('is read the same if another program has written it', () => {
    for (const word of [...WORDS, ...NOTHINGS]) {
      expect(parseMission(stringify(mission(word)))).toEqual({ ok: true, value: mission(word) });
    }
  });
});

function mission(text: string) {
  return {
    version: '1',
    task_id: 'T042',
    epic_id: 'E005',
    prd_id: 'PRD-001',
    instruction: text,
    context: { epic_file: 'no', task_file: '1e5' },
    timeout: 1,
  };
}

function thought(fields: Record<string, string>): string {
  const record: Record<string, string> = {
    task_id: 'P0.1.1',
    branch: 'main',
    commit_sha: 'abc123def456789abcdef456789abcdef456789a',
    tests_run: '[]',
    summary: 'Done.',
    blockers: '[]',
    files_changed: '[]',
    related_thought_records: '[]',
    ...fields,
  };
  return Object.entries(record)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('');
}

function evidence(sha: string): string {
  return `task_id: 123\nphase: DRAFT\nhead_sha: ${sha}\ncommands: []\nfiles: []\nnext_step: no\n`;
}

function unknown(name: string): unknown {
  return expect.objectContaining({ message: `Unknown field: ${name}` });
}
