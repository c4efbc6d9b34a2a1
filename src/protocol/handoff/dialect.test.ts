import { describe, expect, it } from 'vitest';
import { fixture } from './fixtures.cases.ts';
import { parseHandoffDialect, parseHandoff, type HandoffDialect } from './index.ts';

/** A declaration that adds a security reviewer between the reviewer and the validator. */
const securityReview = {
  roles: [{ name: 'security-reviewer', agent: 'security-reviewer-agent' }],
  without: [{ from: 'reviewer-agent', to: 'validator-agent' }],
  edges: [
    {
      from: 'reviewer-agent',
      to: 'security-reviewer-agent',
      when: 'approved',
      phase: 'READY_FOR_REVIEW',
      elements: {
        pr_url: { kind: 'text', format: 'url' },
        pr_number: { kind: 'text', format: 'digits' },
        review_status: { kind: 'choice', values: ['approved'] },
        summary: { kind: 'text' },
      },
    },
    {
      from: 'security-reviewer-agent',
      to: 'validator-agent',
      when: 'no risk found',
      phase: 'READY_FOR_MERGE',
      elements: {
        pr_number: { kind: 'text', format: 'digits' },
        high_count: {
          kind: 'count',
          optional: true,
          counts: { list: 'accepted_risks', attribute: 'level', value: 'high' },
        },
        accepted_risks: {
          kind: 'list',
          item: 'risk',
          attributes: { level: { kind: 'choice', values: ['high', 'low'] } },
        },
        scanners: {
          kind: 'group',
          elements: { secrets: { kind: 'flag' }, rules: { kind: 'count', max: 500 } },
        },
      },
    },
  ],
};

const secure = dialect(securityReview);

const cleared = `<handoff>
  <from>security-reviewer-agent</from>
  <to>validator-agent</to>
  <issue_number>00123</issue_number>
  <pr_number>456</pr_number>
  <high_count>1</high_count>
  <accepted_risks>
    <risk level="high">Tokens are kept in memory</risk>
  </accepted_risks>
  <scanners>
    <secrets>true</secrets>
    <rules>120</rules>
  </scanners>
</handoff>
`;

describe('a role added as data', () => {
  it('has its own handoffs, which are parsed and rendered', () => {
    const parsed = secure.parse(cleared);
    if (!parsed.ok) throw new Error('was refused');
    expect(parsed).toEqual({
      ok: true,
      value: {
        kind: 'handoff',
        from: 'security-reviewer-agent',
        to: 'validator-agent',
        issue_number: '00123',
        pr_number: '456',
        high_count: 1,
        accepted_risks: [{ level: 'high', text: 'Tokens are kept in memory' }],
        scanners: { secrets: true, rules: 120 },
      },
    });
    expect(secure.render(parsed.value)).toBe(cleared);
  });

  it('is checked as strictly as a built-in one', () => {
    const wrong = cleared
      .replace('level="high"', 'level="medium"')
      .replace('120', '501')
      .replace('<pr_number>456</pr_number>', '<pr_no>456</pr_no>');
    expect(secure.validate(wrong)).toEqual([
      'Missing required element: pr_number',
      'Unknown element: pr_no',
      "Attribute level of accepted_risks[0] must be one of high, low: got 'medium'",
      'Element scanners.rules must be from 0 to 500: got 501',
    ]);
    expect(secure.validate(cleared.replace('<high_count>1', '<high_count>0'))).toEqual([
      'Element high_count is 0, but accepted_risks lists 1 with level high',
    ]);
  });

  it('receives work, and the edge that bypassed it is gone', () => {
    const parsed = secure.parse(cleared);
    if (!parsed.ok) throw new Error('was refused');
    expect(secure.route(parsed.value)).toMatchObject({
      ok: true,
      value: { outcome: 'proceeds', phase: 'READY_FOR_MERGE', next: 'validator' },
    });
    const shortcut = secure.parse(fixture('reviewer-agent-to-validator-agent'));
    expect(shortcut).toMatchObject({
      ok: false,
      problems: [{ code: 'handoff/no-edge', message: 'No edge leads from reviewer-agent to validator-agent', line: 3 }],
    });
    const error = secure.parse(fixture('error').replace('implementer-agent', 'security-reviewer-agent'));
    if (!error.ok) throw new Error('was refused');
    expect(secure.route(error.value)).toMatchObject({
      value: { phase: 'BLOCKED', next: 'security-reviewer' },
    });
  });

  it('changes neither the other edges nor the built-in dialect', () => {
    const text = fixture('reviewer-agent-to-fixer-agent');
    expect(secure.parse(text)).toEqual(parseHandoff(text));
    expect(parseHandoff(cleared).ok).toBe(false);
  });

  it('is in the schema', () => {
    expect(JSON.stringify(secure.schema)).toContain('security-reviewer-agent → validator-agent');
    expect(JSON.stringify(secure.schema)).not.toContain('reviewer-agent → validator-agent"}');
  });

  it('may be declared as JSON text', () => {
    expect(parseHandoffDialect(JSON.stringify(securityReview)).ok).toBe(true);
    expect(dialect({}).edges).toHaveLength(11);
  });
});

describe('a bad declaration', () => {
  const edge = { from: 'reviewer-agent', to: 'closer-agent', phase: 'COMPLETED' };
  const withElement = (element: unknown, name = 'x') => ({
    edges: [{ ...edge, elements: { [name]: element } }],
  });

  it.each([
    [null, 'Declaration must be an object'],
    [{ rolls: [] }, 'Unknown field: rolls'],
    [{ roles: [{ name: 'x' }] }, 'roles[0]: missing agent'],
    [{ roles: [{ name: 'x', agent: 'a b' }] }, "roles[0]: invalid agent 'a b'"],
    [{ roles: [{ name: 'fixer', agent: 'x' }] }, 'roles[0]: Name is already taken: fixer'],
    [{ roles: [{ name: 'same', agent: 'x' }] }, 'roles[0]: Name is already taken: same'],
    [{ edges: [{ ...edge, to: 'fixer-agnet' }] }, 'edges[0].to: Unknown agent: fixer-agnet'],
    [{ edges: [{ ...edge, next: 'nobody' }] }, 'edges[0].next: Unknown role: nobody'],
    [{ edges: [{ ...edge, phase: 'DONE' }] }, "edges[0]: invalid phase 'DONE'"],
    [{ edges: [{ ...edge, to: 'fixer-agent' }] }, 'edges[0]: Edge is already there: reviewer-agent → fixer-agent'],
    [{ edges: [edge, edge] }, 'edges[1]: Edge is already there: reviewer-agent → closer-agent'],
    [{ without: [edge] }, 'Unknown field: without[0].phase'],
    [
      { without: [{ from: 'reviewer-agent', to: 'closer-agent' }] },
      'without[0]: There is no built-in edge reviewer-agent → closer-agent',
    ],
    [withElement('text'), 'edges[0].elements.x.kind: Field kind must be one of text, choice, count, flag, list, group'],
    [
      withElement({ kind: 'free' }),
      'edges[0].elements.x.kind: Field kind must be one of text, choice, count, flag, list, group',
    ],
    [withElement({ kind: 'text', max: 1 }), 'edges[0].elements.x.max: Unknown field: max'],
    [withElement({ kind: 'choice', values: [] }), 'edges[0].elements.x.values: Field values must contain at least 1'],
    [withElement({ kind: 'count', min: -1 }), 'edges[0].elements.x.min: Field min must be a non-negative whole number'],
    [withElement({ kind: 'list' }), 'edges[0].elements.x.item: Missing required field: item'],
    [
      withElement({ kind: 'list', item: 'i', attributes: { text: { kind: 'text' } } }),
      'edges[0].elements.x.attributes.text: Name is reserved: text',
    ],
    [
      withElement({ kind: 'list', item: 'i', attributes: { n: { kind: 'count' } } }),
      'edges[0].elements.x.attributes.n.kind: Field kind must be one of text, choice',
    ],
    [
      withElement({ kind: 'count', counts: { list: 'a', attribute: 'b', value: 'c' } }),
      'edges[0].elements.x.counts: There is no list a with the attribute b to count',
    ],
    [withElement({ kind: 'text' }, 'from'), 'edges[0].elements.from: Name is reserved: from'],
    [withElement({ kind: 'text' }, 'data'), 'edges[0].elements.data: Name is reserved: data'],
    [withElement({ kind: 'text' }, 'A-b'), 'edges[0].elements.A-b: Invalid name: A-b'],
  ])('%j', (declaration, message) => {
    const result = parseHandoffDialect(declaration);
    if (result.ok) throw new Error('was accepted');
    expect(result.problems).toMatchObject([{ code: 'handoff/bad-declaration', message }]);
    expect(result.problems[0].hint).not.toBe('');
  });

  it('that contains itself is refused', () => {
    const elements: Record<string, unknown> = {};
    elements['x'] = { kind: 'group', elements };
    expect(parseHandoffDialect({ edges: [{ ...edge, elements }] }).ok).toBe(false);
  });
});

function dialect(declaration: unknown): HandoffDialect {
  const result = parseHandoffDialect(declaration);
  if (!result.ok) throw new Error(result.problems.map(({ message }) => message).join('; '));
  return result.value;
}
