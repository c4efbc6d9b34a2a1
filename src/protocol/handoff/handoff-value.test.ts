import { describe, expect, it } from 'vitest';
import { PROTOCOL_LIMITS } from '../limits.ts';
import { adding, changed, fixture, messagesOf, problemsOf, valueOf } from './fixtures.cases.ts';
import { InvalidHandoff, renderHandoff, validateHandoff } from './index.ts';

const implemented = 'implementer-agent-to-reviewer-agent';

describe('free content', () => {
  it('keeps order, attributes and text, and refuses text beside elements', () => {
    const data = '<data><b x="1"/><a>&#32;1 &lt; 2</a><b><c>d</c></b></data>';
    const value = valueOf(changed('base', /<data>[^]*<\/data>/, data));
    expect(value.data).toEqual([
      { name: 'b', attributes: { x: '1' }, content: '' },
      { name: 'a', content: ' 1 < 2' },
      { name: 'b', content: [{ name: 'c', content: 'd' }] },
    ]);
    expect(valueOf(renderHandoff(value))).toEqual(value);
    expect(messagesOf(changed('base', /<data>[^]*<\/data>/, '<data>see <b>this</b></data>'))).toEqual([
      'Element data has text beside child elements',
    ]);
  });

  it('may be a text', () => {
    const value = valueOf(changed('base', /<data>[^]*<\/data>/, '<data>{"a": 1}</data>'));
    expect(value.data).toBe('{"a": 1}');
  });

  it('may be as deep as the limit', () => {
    const base = valueOf(fixture('base'));
    const nested = (depth: number): unknown => (depth === 0 ? 'x' : [{ name: 'a', content: nested(depth - 1) }]);
    const deepest = PROTOCOL_LIMITS.handoffDepth - 2;
    expect(validateHandoff({ ...base, data: nested(deepest) })).toEqual([]);
    const [message] = messagesOf({ ...base, data: nested(deepest + 1) });
    expect(message).toMatch(/ is nested too deep: more than 16 elements inside each other$/);
  });

  it('has only names that XML can carry', () => {
    const base = valueOf(fixture('base'));
    for (const name of ['', 'a b', '1', '<', 'a>', 'a"', '-a', 7, null]) {
      expect(messagesOf({ ...base, data: [{ name, content: '' }] })).toEqual([
        'Element data[0] has a name that XML does not allow',
      ]);
    }
    expect(messagesOf({ ...base, data: [{ name: 'a', attributes: { 'b c': '' }, content: '' }] })).toEqual([
      'Element data[0] has a name that XML does not allow',
    ]);
  });
});

describe('values from outside', () => {
  const base = valueOf(fixture('base'));

  it('may leave kind out, and null counts as missing', () => {
    const { kind, ...fields } = base;
    expect(kind).toBe('handoff');
    expect(validateHandoff(fields)).toEqual([]);
    expect(validateHandoff({ ...fields, pr_number: null, status: undefined })).toEqual([]);
  });

  it.each([
    [{ issue_number: 123 }, 'Element issue_number must be text'],
    [{ summary: ['x'] }, 'Element summary must be text'],
    [{ summary: '\u0000' }, 'Element summary contains U+0000, which XML cannot carry'],
    [{ summary: 'a\uD800' }, 'Element summary contains U+D800, which XML cannot carry'],
    [{ data: '\uFFFE' }, 'Element data contains U+FFFE, which XML cannot carry'],
    [{ data: { a: 1 } }, 'Element data must be text or a list of elements'],
    [{ data: [{ name: 'a', content: '', extra: 1 }] }, 'Element data[0] has an unknown field: extra'],
    [{ data: [{ name: 'a' }] }, 'Element data[0] must be an object with name and content'],
    [{ foo: 1 }, 'Unknown element: foo'],
  ])('%j is refused', (fields, message) => {
    expect(messagesOf({ ...base, ...fields })).toEqual([message]);
  });

  it('require numbers for counts and lists for lists', () => {
    const value = valueOf(fixture(implemented));
    expect(messagesOf({ ...value, files_changed: '12' })).toEqual(['Element files_changed must be a whole number ≥ 0']);
    expect(messagesOf({ ...value, files_changed: -0 })).toEqual(['Element files_changed must be a whole number ≥ 0']);
    expect(messagesOf({ ...value, commits: 'x' })).toEqual(['Element commits must be a list']);
    expect(messagesOf({ ...value, commits: ['x'] })).toEqual(['Element commits[0] must be an object with sha, text']);
    expect(messagesOf({ ...value, commits: [{ sha: 'a' }] })).toEqual(['Missing required text of commits[0]']);
    expect(messagesOf({ ...value, commits: [{ sha: 'a', text: 'x', by: 'y' }] })).toEqual([
      'Unknown attribute: by of commits[0]',
    ]);
  });

  it('never make the parser throw', () => {
    const hostile = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('no');
        },
      },
    );
    const getter = {
      get from() {
        throw new Error('no');
      },
    };
    const cyclic: Record<string, unknown> = { ...base, data: [{ name: 'a' }] };
    cyclic['data'] = [{ name: 'a', content: [cyclic] }];
    const self: unknown[] = [];
    self.push({ name: 'a', content: self });
    const inputs = [
      undefined,
      null,
      0,
      true,
      1n,
      Symbol('x'),
      () => 1,
      [],
      {},
      new Date(0),
      new Map(),
      Number.NaN,
      hostile,
      getter,
      cyclic,
      { ...base, data: self },
      Object.create(null),
      new Uint8Array([0xff]),
      new Uint8Array(300_000),
    ];
    for (const input of inputs) expect(validateHandoff(input).length).toBeGreaterThan(0);
  });

  it('take bounded time, whatever size they claim', () => {
    let data: unknown = 'x';
    for (let i = 0; i < 13; i++) data = Array.from({ length: 10 }, () => ({ name: 'a', content: data }));
    const start = performance.now();
    expect(messagesOf({ ...base, data })).toContain(
      'Handoff too large: more than 262144 bytes as XML, 262144 bytes maximum',
    );
    expect(validateHandoff({ ...base, data: Array.from({ length: 3 }), summary: 'x'.repeat(1_000_000) })).not.toEqual(
      [],
    );
    const requirements: unknown[] = [];
    requirements.length = 4_000_000_000;
    expect(validateHandoff({ from: 'issue-manager', to: 'prep-agent', requirements })).not.toEqual([]);
    expect(performance.now() - start).toBeLessThan(20_000);
  });
});

describe('size', () => {
  const withSummary = (summary: string) => ({ ...valueOf(fixture('base')), summary });

  it('accepts exactly the handoffs that fit when rendered', () => {
    const room =
      PROTOCOL_LIMITS.handoffBytes - new TextEncoder().encode(renderHandoff(valueOf(fixture('base')))).length;
    const fits = withSummary('x'.repeat(room));
    expect(valueOf(renderHandoff(fits))).toEqual(fits);
    expect(messagesOf(withSummary('&'.repeat(100_000)))[0]).toMatch(/^Handoff too large: \d+ bytes as XML/);
  });

  it('renders without indentation if only that fits', () => {
    const many = '<a/>'.repeat(60_000);
    const value = valueOf(changed('base', /<data>[^]*<\/data>/, `<data>${many}</data>`));
    expect(renderHandoff(value)).toContain(many);
    expect(valueOf(renderHandoff(value))).toEqual(value);
  });

  it('reports at most a hundred problems', () => {
    const many = Array.from({ length: 20_000 }, (_, i) => `<b${i}/>`).join('');
    expect(problemsOf(adding('base', many))).toHaveLength(PROTOCOL_LIMITS.problems);
  });
});

describe('rendering', () => {
  it('throws if the handoff would be refused', () => {
    const value = valueOf(fixture('base'));
    if (value.kind !== 'handoff') throw new Error('is a handoff');
    expect(() => renderHandoff({ ...value, summary: '\u0007' })).toThrow(InvalidHandoff);
    expect(() => renderHandoff({ ...value, summary: '\u0007' })).toThrow(
      'handoff cannot be rendered: Element summary contains U+0007, which XML cannot carry',
    );
  });

  it('escapes what a parser would change', () => {
    const value = valueOf(fixture('implementer-agent-to-reviewer-agent'));
    if (value.kind !== 'handoff') throw new Error('is a handoff');
    const commits = [{ sha: 'a1', text: ' <b> & ]]> \r\n' }];
    const text = renderHandoff({ ...value, commits });
    expect(text).toContain('<commit sha="a1">&#32;&lt;b> &amp; ]]&gt; &#13;&#10;</commit>');
    expect(valueOf(text)).toMatchObject({ commits });
  });
});
