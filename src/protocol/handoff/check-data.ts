import { PROTOCOL_LIMITS } from '../limits.ts';
import { quote } from '../shape/quote.ts';
import { checkScalar } from './check-values.ts';
import type { Data, DataElement } from './element.ts';
import type { ElementFinding, ElementFindings } from './finding.ts';

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
