import { describe, expect, it } from 'vitest';
import { parseExitSignal, validateExitSignal } from './exit-signal.ts';

const VALID = {
  protocol: 'apm2_agent_exit',
  version: '1.0.0',
  phase_completed: 'IMPLEMENTATION',
  exit_reason: 'completed',
};

type Row = [fields: Record<string, unknown>, error: string];

const TRAVERSAL = "path traversal detected in evidence_bundle_ref: paths cannot contain '..' or start with '/'";

describe('exit signal', () => {
  it('is accepted with its four required fields', () => {
    expect(parseExitSignal(JSON.stringify(VALID))).toEqual({ ok: true, value: VALID });
  });

  it.each(['1.0.0', '1.1.0', '1.99.123', '1.0.00'])('is accepted in version %s', (version) => {
    expect(errorOf({ version })).toBeUndefined();
  });

  it('treats null as absent', () => {
    const signal = { ...VALID, pr_url: null, evidence_bundle_ref: null, notes: null };
    expect(parseExitSignal(JSON.stringify(signal))).toEqual({ ok: true, value: VALID });
  });

  it('reports a required field that is null as missing', () => {
    expect(parseExitSignal('{\n  "protocol": null\n}')).toMatchObject({
      problems: [{ message: 'invalid JSON: missing field `protocol` at line 2 column 3' }],
    });
  });

  it('strips control characters except tab and newline from notes', () => {
    const notes = 'a\0b\tc\nd\re\x1b[31mf\x7fg\x85h';
    expect(parseExitSignal({ ...VALID, notes })).toEqual({
      ok: true,
      value: { ...VALID, notes: 'ab\tc\nde[31mfgh' },
    });
  });
});

describe('check 2, the JSON of an exit signal', () => {
  it.each([
    ['', 'unexpected end, expected a value', 1, 1],
    ['{', 'unexpected end, expected `"`', 1, 2],
    ['{\n  "version": "1.0.0",\n    protocol: 1}', 'expected `"`', 3, 5],
    ['{"version" "1.0.0"}', 'expected `:`', 1, 12],
    ['{"version": "1.0.0" "notes": ""}', 'expected `,` or `}`', 1, 21],
    ['{"version": "1.0.0",}', 'expected `"`', 1, 21],
    ['{"version": 1.0.0}', 'expected a value', 1, 13],
    ['{"notes": "a\nb"}', 'control character in a string', 1, 13],
    ['{"notes": "a', 'unterminated string', 1, 13],
    ['{"notes": "\\q"}', 'invalid escape `\\q`', 1, 12],
    ['{} {}', 'trailing characters', 1, 4],
    ['{"notes": "", "notes": ""}', 'duplicate field `notes`', 1, 15],
    ['{"notes": "", "n\\u006ftes": ""}', 'duplicate field `notes`', 1, 15],
    ['{"__proto__": {}}', 'field name `__proto__` is not allowed', 1, 2],
    ['[]', 'invalid type: array, expected an object', 1, 1],
    ['"a"', 'invalid type: string, expected an object', 1, 1],
    [' null', 'invalid type: null, expected an object', 1, 2],
    ['{"version": 1}', 'invalid type: number, expected a string', 1, 13],
    ['{"notes": {}}', 'invalid type: object, expected a string', 1, 11],
    ['{"notes": false}', 'invalid type: boolean, expected a string', 1, 11],
    ['{"notes": "é😀", "version": 1}', 'invalid type: number, expected a string', 1, 28],
  ])('%j: %s', (text, what, line, column) => {
    expect(messageOf(text)).toBe(`invalid JSON: ${what} at line ${line} column ${column}`);
  });

  it('lists the known fields for an unknown one, and suggests a similar one', () => {
    expect(parseExitSignal('{"note": ""}')).toEqual({
      ok: false,
      problems: [
        {
          code: 'invalid-json',
          message:
            'invalid JSON: unknown field `note`, expected one of `protocol`, `version`, `phase_completed`, `exit_reason`, `pr_url`, `evidence_bundle_ref`, `notes` at line 1 column 2',
          path: 'note',
          line: 1,
          column: 2,
          hint: 'Did you mean `notes`?',
        },
      ],
    });
  });

  it.each(['constructor', 'toString', 'hasOwnProperty', ''])('refuses %j as an unknown field', (name) => {
    expect(errorOf({ [name]: 'x' })).toMatch(`invalid JSON: unknown field \`${name}\`, expected one of `);
  });

  it.each(['protocol', 'version', 'phase_completed', 'exit_reason'])('requires %s', (name) => {
    const { [name]: _, ...rest } = { ...VALID } as Record<string, string>;
    const text = JSON.stringify(rest);
    expect(messageOf(text)).toBe(`invalid JSON: missing field \`${name}\` at line 1 column ${text.length}`);
  });

  it.each([
    ['exit_reason', 'Completed', '`completed`, `blocked`, `error`'],
    ['exit_reason', '', '`completed`, `blocked`, `error`'],
    [
      'phase_completed',
      'implementation',
      '`DRAFT`, `IMPLEMENTATION`, `CI_PENDING`, `READY_FOR_REVIEW`, `REVIEW`, `READY_FOR_MERGE`, `COMPLETED`, `BLOCKED`',
    ],
  ])('refuses %s in another case or word: %j', (field, value, expected) => {
    expect(errorOf({ [field]: value })).toMatch(
      `invalid JSON: unknown variant \`${value}\`, expected one of ${expected} at line 1 column `,
    );
  });
});

describe('checks 4 to 8', () => {
  it.each<Row>([
    [{ protocol: 'wrong_protocol' }, "unknown protocol: expected 'apm2_agent_exit', got 'wrong_protocol'"],
    [{ protocol: '' }, "unknown protocol: expected 'apm2_agent_exit', got ''"],
    [{ protocol: 'APM2_agent_exit' }, "unknown protocol: expected 'apm2_agent_exit', got 'APM2_agent_exit'"],
    [{ version: '2.0.0' }, "unsupported version: expected '1.x', got '2.0.0'"],
    [{ version: '1' }, "unsupported version: expected '1.x', got '1'"],
    [{ version: '1.0' }, "unsupported version: expected '1.x', got '1.0'"],
    [{ version: '1.0.0-rc1' }, "unsupported version: expected '1.x', got '1.0.0-rc1'"],
    [{ version: '1.0.0\n' }, "unsupported version: expected '1.x', got '1.0.0\n'"],
    [{ version: '1.٣.0' }, "unsupported version: expected '1.x', got '1.٣.0'"],
    [{ version: '11.0.0' }, "unsupported version: expected '1.x', got '11.0.0'"],
    [{ pr_url: '' }, "pr_url must start with 'https://': got ''"],
    [{ pr_url: 'http://h/1' }, "pr_url must start with 'https://': got 'http://h/1'"],
    [{ pr_url: 'HTTPS://h/1' }, "pr_url must start with 'https://': got 'HTTPS://h/1'"],
    [{ pr_url: ' https://h' }, "pr_url must start with 'https://': got ' https://h'"],
    [{ pr_url: 'https://' }, 'pr_url has no host'],
    [{ pr_url: 'https:///path' }, 'pr_url has no host'],
    [{ pr_url: 'https://?q' }, 'pr_url has no host'],
    [{ pr_url: 'https://#f' }, 'pr_url has no host'],
    [{ pr_url: 'https://:443/a' }, 'pr_url has no host'],
    [{ pr_url: 'https://user@/a' }, 'pr_url has no host'],
    [{ pr_url: 'https://\\evil.example' }, 'pr_url has no host'],
    ...[' ', '\t', '\n', '\0', '\x7f', '\x85', ';', '|', '`', '$'].map((c): Row => [
      { pr_url: `https://h/a${c}b` },
      `pr_url contains potentially dangerous character: '${c}'`,
    ]),
    ...['..', '../a', 'a/../b', 'a..b', '/a', '/', 'a\\b', 'a\0', 'a\nb', 'a\x7f'].map((path): Row => [
      { evidence_bundle_ref: path },
      TRAVERSAL,
    ]),
  ])('%j', (fields, error) => {
    expect(errorOf(fields)).toBe(error);
  });

  it.each([
    { pr_url: 'https://github.com/org/repo/pull/123' },
    { pr_url: 'https://user@host:8443/a?b=c&d=e#f' },
    { pr_url: 'https://[::1]/a' },
    { pr_url: 'https://bücher.example/é' },
    { evidence_bundle_ref: 'evidence/work/W-00042/phase_implementation.yaml' },
    { evidence_bundle_ref: './a.yaml' },
    { evidence_bundle_ref: '.hidden/a b.yaml' },
    { notes: '' },
  ])('accepts %j', (fields) => {
    expect(errorOf(fields)).toBeUndefined();
  });

  it('shows the first 50 characters of a wrong pr_url, never half of one', () => {
    const got = (url: string) => `pr_url must start with 'https://': got '${url}'`;
    expect(errorOf({ pr_url: 'x'.repeat(50) })).toBe(got('x'.repeat(50)));
    expect(errorOf({ pr_url: 'x'.repeat(51) })).toBe(got('x'.repeat(50)));
    expect(errorOf({ pr_url: 'é'.repeat(60) })).toBe(got('é'.repeat(50)));
    expect(errorOf({ pr_url: '😀'.repeat(60) })).toBe(got('😀'.repeat(50)));
    expect(errorOf({ pr_url: `x${'😀'.repeat(60)}` })).toBe(got(`x${'😀'.repeat(49)}`));
  });

  it('report the place of the value', () => {
    const text = JSON.stringify({ ...VALID, notes: '😀', pr_url: 'ftp://h' }, null, 2);
    const parsed = parseExitSignal(text);
    expect(parsed).toMatchObject({ problems: [{ path: 'pr_url', line: 7, column: 13, code: 'invalid-url' }] });
  });
});

describe('the order of the checks', () => {
  const long = (bytes: number) => 'x'.repeat(bytes);
  /** Each row fails one check; the parser reports the first failed check in this order. */
  const faults: readonly (readonly [fields: Record<string, unknown>, error: string])[] = [
    [{ notes: long(65_536) }, 'input too large'],
    [{ exit_reason: 'done' }, 'invalid JSON: unknown variant `done`'],
    [{ protocol: long(65) }, 'protocol exceeds maximum length'],
    [{ version: long(65) }, 'version exceeds maximum length'],
    [{ protocol: 'p' }, 'unknown protocol'],
    [{ version: 'v' }, 'unsupported version'],
    [{ pr_url: `ftp://${long(2_048)}` }, 'pr_url exceeds maximum length'],
    [{ pr_url: 'ftp://;' }, "pr_url must start with 'https://'"],
    [{ pr_url: 'https://;' }, 'pr_url contains potentially dangerous character'],
    [{ notes: long(10_241) }, 'notes exceeds maximum length'],
    [{ evidence_bundle_ref: `/${long(2_048)}` }, 'evidence_bundle_ref exceeds maximum length'],
    [{ evidence_bundle_ref: '/' }, 'path traversal detected'],
  ];

  const pairs = faults.flatMap((first, i) =>
    faults
      .slice(i + 1)
      .filter((second) => !Object.keys(second[0]).some((field) => field in first[0]))
      .map((second) => ({ first: first[1], second: second[1], fields: { ...second[0], ...first[0] } })),
  );

  it.each(pairs)('reports "$first" before "$second"', ({ first, fields }) => {
    expect(errorOf(fields)).toMatch(new RegExp(`^${first.replace(/[`']/g, '.')}`));
  });

  it('reports only the first fault of a signal with all of them', () => {
    const parsed = parseExitSignal({ ...VALID, protocol: 'p', version: 'v', pr_url: 'u', notes: long(10_241) });
    expect(parsed.ok ? [] : parsed.problems.map(({ message }) => message)).toEqual([
      "unknown protocol: expected 'apm2_agent_exit', got 'p'",
    ]);
  });

  it('reports a syntax error before an unknown field at an earlier position', () => {
    expect(messageOf('{"bogus": 1, "notes": }')).toBe('invalid JSON: expected a value at line 1 column 23');
  });
});

function errorOf(fields: Record<string, unknown>): string | undefined {
  const errors = validateExitSignal({ ...VALID, ...fields });
  expect(errors).toEqual(errors.slice(0, 1));
  return errors[0];
}

function messageOf(text: string): string | undefined {
  const parsed = parseExitSignal(text);
  return parsed.ok ? undefined : parsed.problems[0].message;
}
