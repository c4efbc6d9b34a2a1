import { PROTOCOL_LIMITS } from '../limits.ts';
import { didYouMean, quote } from '../shape/problem.ts';
import { findUnwritable } from '../text/xml-markup.ts';
import {
  type ChoiceElement,
  type CountElement,
  type Data,
  type DataElement,
  ELEMENT_FORMATS,
  type Scalar,
  type TextElement,
} from './element.ts';

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

/** Where the children of `data` are: below the root and `data` itself. */
const CHILD_DEPTH = 3;

const NAME_START =
  ':A-Z_a-z\\u00C0-\\u00D6\\u00D8-\\u00F6\\u00F8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C\\u200D\\u2070-\\u218F' +
  '\\u2C00-\\u2FEF\\u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFFD\\u{10000}-\\u{EFFFF}';
const NAME = new RegExp(`^[${NAME_START}][${NAME_START}\\-.0-9\\u00B7\\u0300-\\u036F\\u203F\\u2040]*$`, 'u');

/** Free content may be anything that XML can carry, so that is all that is checked. An empty list becomes an empty text. */
export function checkData(value: unknown, path: string, findings: ElementFindings, depth = CHILD_DEPTH): Data {
  if (typeof value === 'string') return checkText(value, path, `Element ${path}`, findings);
  if (!Array.isArray(value)) {
    const hint = 'Write a string, or a list of {name, attributes, content}.';
    findings.add(finding('handoff/wrong-type', path, 'must be text or a list of elements', hint));
    return '';
  }
  if (value.length > 0 && depth > PROTOCOL_LIMITS.handoffDepth) {
    const says = `is nested too deep: more than ${PROTOCOL_LIMITS.handoffDepth} elements inside each other`;
    findings.add(finding('handoff/too-deep', path, says, 'Make the structure flatter.'));
    return '';
  }
  const items: DataElement[] = [];
  for (let i = 0; i < value.length && findings.spend(3); i++) {
    const item: unknown = value[i];
    items.push(checkDataElement(item, `${path}[${i}]`, findings, depth));
  }
  return items.length === 0 ? '' : items;
}

function checkDataElement(value: unknown, path: string, findings: ElementFindings, depth: number): DataElement {
  const empty = { name: '', content: '' };
  if (typeof value !== 'object' || value === null || !('name' in value) || !('content' in value)) {
    const hint = 'Each needs name and content, and may have attributes.';
    findings.add(finding('handoff/wrong-type', path, 'must be an object with name and content', hint));
    return empty;
  }
  const strange = Object.keys(value).find((key) => !['name', 'attributes', 'content'].includes(key));
  if (strange !== undefined) {
    const hint = 'Only name, attributes and content may stand here.';
    findings.add(finding('handoff/unknown-field', path, `has an unknown field: ${quote(strange)}`, hint));
  }
  const name = checkName(value.name, path, findings);
  const attributes = 'attributes' in value ? checkAttributes(value.attributes, path, findings) : [];
  const content = checkData(value.content, path, findings, depth + 1);
  return { name, ...(attributes.length > 0 && { attributes: Object.fromEntries(attributes) }), content };
}

function checkAttributes(value: unknown, path: string, findings: ElementFindings): [string, string][] {
  if (value === undefined || value === null) return [];
  if (typeof value !== 'object' || Array.isArray(value)) {
    const hint = 'Write {"name": "value"}.';
    findings.add(finding('handoff/wrong-type', path, 'must have attributes as an object of texts', hint));
    return [];
  }
  const attributes: [string, string][] = [];
  for (const [name, text] of Object.entries(value)) {
    if (!findings.spend(4)) break;
    const label = `Attribute ${quote(name)} of ${path}`;
    const checked = checkText(text, `${path}.${quote(name)}`, label, findings);
    // The parser holds on to what XML says about this one attribute, and a value that it refuses would not come back.
    if (name === 'xml:space' && checked !== 'default' && checked !== 'preserve') {
      findings.add({
        ...finding('handoff/invalid-choice', path, '', 'Remove it.'),
        message: `${label} must be default or preserve`,
      });
    }
    attributes.push([checkName(name, path, findings), checked]);
  }
  return attributes;
}

function checkName(name: unknown, path: string, findings: ElementFindings): string {
  if (typeof name === 'string' && findings.spend(name.length) && NAME.test(name)) return name;
  const hint = 'Start with a letter; go on with letters, digits, _ - and dots.';
  findings.add(finding('handoff/invalid-name', path, 'has a name that XML cannot carry', hint));
  return '';
}

function checkText(text: unknown, path: string, label: string, findings: ElementFindings): string {
  const checked = checkScalar(text, { kind: 'text', may_be_empty: true }, { path, label }, findings);
  return typeof checked === 'string' ? checked : '';
}

function finding(code: string, path: string, says: string, hint: string): ElementFinding {
  return { code, message: `Element ${path} ${says}`, path, hint };
}

/** What is wrong, before anybody knows where it is in the text. `at` is given where the path alone does not tell. */
export interface ElementFinding {
  readonly code: string;
  readonly message: string;
  readonly path: string;
  readonly hint: string;
  readonly at?: number;
}

/** Collects findings up to the limit, and stops work that would cost more than any handoff may. */
export class ElementFindings {
  readonly list: ElementFinding[] = [];
  #bytesLeft = PROTOCOL_LIMITS.handoffBytes;

  add(finding: ElementFinding): void {
    if (!this.isFull) this.list.push(finding);
  }

  /** Whether it is any use to go on looking. */
  get isFull(): boolean {
    return this.list.length >= PROTOCOL_LIMITS.problems;
  }

  /**
   * Values from outside can be far larger than their memory: an array of four billion holes, or ten lists that each hold
   * the next one ten times. So each part is paid for before it is looked at. Returns false when nothing is left.
   */
  spend(bytes: number): boolean {
    const hadSome = this.#bytesLeft >= 0;
    this.#bytesLeft -= bytes;
    if (hadSome && this.#bytesLeft < 0) this.add(handoffTooLarge(`more than ${PROTOCOL_LIMITS.handoffBytes}`));
    return this.#bytesLeft >= 0;
  }
}

export function handoffTooLarge(bytes: string): ElementFinding {
  return {
    code: 'handoff/too-large',
    message: `Handoff too large: ${bytes} bytes as XML, ${PROTOCOL_LIMITS.handoffBytes} bytes maximum`,
    path: '',
    hint: 'Keep long text in a file, and name the file.',
  };
}
