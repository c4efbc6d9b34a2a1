import { quote } from '../shape/quote.ts';
import { findUnwritable } from '../text/read-xml-character.ts';
import { didYouMean } from '../shape/suggest.ts';
import { ELEMENT_FORMATS } from './element-format.ts';
import type { ChoiceElement, CountElement, Scalar, TextElement } from './element.ts';
import type { ElementFinding, ElementFindings } from './finding.ts';

/** Where a text stands, and what a sentence about it begins with: `Element branch`, `Attribute sha of commits[0]`. */
export interface ScalarLocation {
  readonly path: string;
  readonly label: string;
}

/** One text, choice, count or flag; undefined where something is wrong with it. */
export function checkScalar(
  value: unknown,
  scalar: Scalar,
  spot: ScalarLocation,
  findings: ElementFindings,
): string | number | boolean | undefined {
  const wrong = findWrong(value, scalar, findings);
  if (wrong) {
    findings.add({
      path: spot.path,
      code: wrong.code,
      message: `${spot.label} ${wrong.says}`,
      hint: wrong.hint,
    });
    return undefined;
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}

interface Wrong extends Pick<ElementFinding, 'code' | 'hint'> {
  readonly says: string;
}

function findWrong(value: unknown, scalar: Scalar, findings: ElementFindings): Wrong | undefined {
  switch (scalar.kind) {
    case 'count':
      return findWrongCount(value, scalar);
    case 'flag':
      if (typeof value === 'boolean') return undefined;
      return { code: 'handoff/not-a-flag', says: 'must be true or false', hint: 'Write true or false.' };
    case 'text':
      return findWrongText(value, scalar, findings);
    case 'choice':
      return findWrongText(value, { kind: 'text', may_be_empty: true }, findings) ?? findWrongChoice(value, scalar);
  }
}

function findWrongText(value: unknown, text: TextElement, findings: ElementFindings): Wrong | undefined {
  if (typeof value !== 'string') {
    return { code: 'handoff/wrong-type', says: 'must be text', hint: 'Write it as a string, in quotes.' };
  }
  if (!findings.spend(value.length)) return undefined;
  const unwritable = findUnwritable(value);
  if (unwritable !== undefined) {
    const hint = 'Remove it, or write down what it stands for.';
    return {
      code: 'handoff/illegal-character',
      says: `contains ${unwritable}, which XML cannot carry`,
      hint,
    };
  }
  if (value === '' && text.may_be_empty !== true) {
    return { code: 'handoff/empty', says: 'must not be empty', hint: 'Say it in a few words.' };
  }
  if (text.format === undefined) return undefined;
  const { fits, expected, example } = ELEMENT_FORMATS[text.format];
  if (fits(value)) return undefined;
  const says = `must be ${expected}: got '${quote(value)}'`;
  return { code: `handoff/invalid-${text.format}`, says, hint: `For example ${example}.` };
}

function findWrongChoice(value: unknown, { values }: ChoiceElement): Wrong | undefined {
  const given = String(value);
  if (values.includes(given)) return undefined;
  const says = `must be ${values.length === 1 ? '' : 'one of '}${values.join(', ')}: got '${quote(given)}'`;
  return {
    code: 'handoff/invalid-choice',
    says,
    hint: didYouMean(given, values) ?? `Write ${values.length === 1 ? values[0] : 'one of them'}.`,
  };
}

/** The largest is the largest that JavaScript and JSON carry exactly. */
function findWrongCount(value: unknown, { min = 0, max, because }: CountElement): Wrong | undefined {
  const why = because === undefined ? '' : ` Here ${because}.`;
  const isCount = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && !Object.is(value, -0);
  if (!isCount) {
    const hint = `Write it in plain digits, such as 12.${why}`;
    return { code: 'handoff/invalid-count', says: 'must be a whole number ≥ 0', hint };
  }
  if (value >= min && (max === undefined || value <= max)) return undefined;
  const bounds = max === undefined ? `at least ${min}` : min === max || max === 0 ? `${max}` : `from ${min} to ${max}`;
  return {
    code: 'handoff/count-out-of-range',
    says: `must be ${bounds}: got ${value}`,
    hint: `Correct it.${why}`,
  };
}
