import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderTemplate, slotsOf, type TemplateContext } from './render-template.ts';
import { parseTemplate } from './template.ts';

const CONTEXT: TemplateContext = {
  vars: { title: 'Fix it', empty: '', 'dry-run': 'true' },
  task: { id: 'T042', n: 42, title: 'A task', branch: null },
  step: 'test',
  steps: { build: { output: 'built', exit_code: 0 }, lint: {} },
  env: { HOME: '/home/ada' },
};

const plain = (text: string, context = CONTEXT): unknown => {
  const rendered = renderTemplate(text, context, { quote: 'none' });
  return rendered.ok ? rendered.value : rendered.problems.map(({ code, message }) => `${code}: ${message}`);
};

describe('a template', () => {
  it.each([
    ['nothing to fill in', 'nothing to fill in'],
    ['', ''],
    ['$', '$'],
    ['$ {var.x} $var {}', '$ {var.x} $var {}'],
    ['${var.title}!', 'Fix it!'],
    ['${var.title}${var.title}', 'Fix itFix it'],
    ['${var.dry-run}', 'true'],
    ['${var.empty}', ''],
    ['${task.id} ${task.n} ${task.title}', 'T042 42 A task'],
    ['${step.name}: ${step.build.output} (${step.build.exit_code})', 'test: built (0)'],
    ['${env.HOME}', '/home/ada'],
    ['${env.NONE:-default}', 'default'],
    ['${env.NONE:-}', ''],
    ['${var.empty:-nothing said}', 'nothing said'],
    ['${task.branch:-main}', 'main'],
    ['${step.lint.output:-}', ''],
    ['$${var.title}', '${var.title}'],
    ['$$${var.title}', '$${var.title}'],
    ['$${HOME} ${var.title}', '${HOME} Fix it'],
    ['$${${var.title}', '${Fix it'],
  ])('%j becomes %j', (text, expected) => {
    expect(plain(text)).toBe(expected);
  });

  it.each([
    ['${var.none}', 'missing-value: no value for ${var.none}'],
    ['${env.NONE}', 'missing-value: no value for ${env.NONE}'],
    ['${task.branch}', 'missing-value: no value for ${task.branch}'],
    ['${step.lint.output}', 'missing-value: no value for ${step.lint.output}'],
    ['${step.none.exit_code}', 'missing-value: no value for ${step.none.exit_code}'],
    ['${var.constructor}', 'missing-value: no value for ${var.constructor}'],
    ['${x}', 'invalid-template: unknown name: ${x}'],
    ['${}', 'invalid-template: unknown name: ${}'],
    ['${var}', 'invalid-template: not a template: ${var}'],
    ['${var.a.b}', 'invalid-template: not a template: ${var.a.b}'],
    ['${var.a b}', 'invalid-template: not a template: ${var.a b}'],
    ['${var.title-}', 'missing-value: no value for ${var.title-}'],
    ['${var.title:=x}', 'invalid-template: not a template: ${var.title:=x}'],
    ['${task.nothing}', 'invalid-template: unknown field of a task: ${task.nothing}'],
    ['${step.build}', 'invalid-template: unknown field of a step: ${step.build}'],
    ['${step.build.status}', 'invalid-template: unknown field of a step: ${step.build.status}'],
    ['${var.title', 'invalid-template: template without end: ${var.title'],
    ['${var.title\n}', 'invalid-template: template without end: ${var.title'],
  ])('%j has no value: %s', (text, message) => {
    expect(plain(text)).toEqual([message]);
  });

  it('reports all its faults', () => {
    expect(plain('${a} ${var.title} ${b} ${var.none}')).toEqual([
      'invalid-template: unknown name: ${a}',
      'invalid-template: unknown name: ${b}',
      'missing-value: no value for ${var.none}',
    ]);
  });

  it('is filled in once: a value that looks like a template is not expanded', () => {
    expect(plain('${var.title}', { vars: { title: '${env.HOME} $${x}' }, env: { HOME: '/' } })).toBe(
      '${env.HOME} $${x}',
    );
  });

  it('has no value for the task and the step if there are none', () => {
    expect(plain('${task.id:-none} ${step.name:-none}', { task: null, step: null })).toBe('none none');
    expect(plain('${task.id}', {})).toEqual(['missing-value: no value for ${task.id}']);
  });

  it('knows the offset of each slot', () => {
    const slots = slotsOf(parseTemplate('a ${var.b} c ${env.D:-e}'));
    expect(slots.map(({ at, source, fallback }) => ({ at, source, fallback }))).toEqual([
      { at: 2, source: '${var.b}', fallback: null },
      { at: 13, source: '${env.D:-e}', fallback: 'e' },
    ]);
  });

  it('keeps a text without `${`, and unescapes `$${`', () => {
    const piece = fc.string({ unit: fc.constantFrom('{', '}', 'a', '.', '\n', ' ', '"', 'var') });
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        expect(plain(pieces.join('$ '))).toBe(pieces.join('$ '));
        expect(plain(pieces.join('$${'))).toBe(pieces.join('${'));
      }),
    );
  });

  it('takes linear time for any text', () => {
    for (const unit of ['${', '$${', '${var.title}', '${x', '}', '$', '${var.title:-', '${\n']) {
      const start = performance.now();
      parseTemplate(unit.repeat(500_000 / unit.length));
      expect(performance.now() - start).toBeLessThan(2_000);
    }
  });
});
