import { PROTOCOL_LIMITS } from '../limits.ts';
import { type FieldLocation, type Finding, locateItem } from '../shape/finding.ts';
import { quote } from '../shape/problem.ts';
import type { Data, DataElement } from '../shape/shape.ts';
import type { Node } from '../text/node.ts';
import { findUnwritable } from '../text/xml-markup.ts';

const CHILD_DEPTH = 3;

const NAME_START =
  ':A-Z_a-z\\u00C0-\\u00D6\\u00D8-\\u00F6\\u00F8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C\\u200D\\u2070-\\u218F' +
  '\\u2C00-\\u2FEF\\u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFFD\\u{10000}-\\u{EFFFF}';
const NAME = new RegExp(`^[${NAME_START}][${NAME_START}\\-.0-9\\u00B7\\u0300-\\u036F\\u203F\\u2040]*$`, 'u');

/**
 * Checks only whether XML can contain the content, because free content may be anything. An empty list becomes an empty
 * text.
 */
export function checkData(node: Node, spot: FieldLocation, findings: Finding[], depth = CHILD_DEPTH): Data {
  if (node.kind === 'text') return checkText(node, spot.path, `Element ${spot.path}`, findings);
  if (node.kind !== 'list') {
    const hint = 'Write a string, or a list of {name, attributes, content}.';
    findings.push(refuse('handoff/wrong-type', spot, 'must be text or a list of elements', hint));
    return '';
  }
  if (node.items.length > 0 && depth > PROTOCOL_LIMITS.handoffDepth) {
    const says = `is nested too deep: more than ${PROTOCOL_LIMITS.handoffDepth} elements inside each other`;
    findings.push(refuse('handoff/too-deep', spot, says, 'Make the structure flatter.'));
    return '';
  }
  const elements: DataElement[] = [];
  for (const [i, item] of node.items.entries()) {
    elements.push(checkElement(item, locateItem(spot, i, item.at), findings, depth));
    if (findings.length >= PROTOCOL_LIMITS.problems) break;
  }
  return elements.length === 0 ? '' : elements;
}

function checkElement(node: Node, spot: FieldLocation, findings: Finding[], depth: number): DataElement {
  const fields = node.kind === 'object' ? node.fields : new Map<string, never>();
  const [givenName, givenContent] = [fields.get('name'), fields.get('content')];
  if (!givenName || !givenContent) {
    const hint = 'Each needs name and content, and may have attributes.';
    findings.push(refuse('handoff/wrong-type', spot, 'must be an object with name and content', hint));
    return { name: '', content: '' };
  }
  const unknown = [...fields.keys()].find((key) => !['name', 'attributes', 'content'].includes(key));
  if (unknown !== undefined) {
    const hint = 'Only name, attributes and content are allowed here.';
    findings.push(refuse('handoff/unknown-field', spot, `has an unknown field: ${quote(unknown)}`, hint));
  }
  const name = givenName.value.kind === 'text' ? givenName.value.text : '';
  checkName(name, spot, findings);
  const attributes = checkAttributes(fields.get('attributes')?.value, spot, findings);
  const content = checkData(givenContent.value, spot, findings, depth + 1);
  return { name, ...(attributes.length > 0 && { attributes: Object.fromEntries(attributes) }), content };
}

function checkAttributes(node: Node | undefined, spot: FieldLocation, findings: Finding[]): [string, string][] {
  if (node === undefined || node.kind === 'null') return [];
  if (node.kind !== 'object') {
    const says = 'must have attributes as an object of texts';
    findings.push(refuse('handoff/wrong-type', spot, says, 'Write {"name": "value"}.'));
    return [];
  }
  return [...node.fields].map(([name, { value }]) => {
    const label = `Attribute ${quote(name)} of ${spot.path}`;
    const text = checkText(value, `${spot.path}.${quote(name)}`, label, findings);
    // The XML parser refuses any other value of this attribute, so the rendered handoff could not be parsed.
    if (name === 'xml:space' && text !== 'default' && text !== 'preserve') {
      const message = `${label} must be default or preserve`;
      findings.push({ ...refuse('handoff/invalid-choice', spot, '', 'Remove it.'), message });
    }
    checkName(name, spot, findings);
    return [name, text];
  });
}

function checkName(name: string, spot: FieldLocation, findings: Finding[]): void {
  if (NAME.test(name)) return;
  const hint = 'Start with a letter, followed by letters, digits, _, - and dots.';
  findings.push(refuse('handoff/invalid-name', spot, 'has a name that XML does not allow', hint));
}

function checkText(node: Node, path: string, label: string, findings: Finding[]): string {
  const wrong = node.kind === 'text' ? findIllegal(node.text) : NOT_TEXT;
  if (!wrong) return node.kind === 'text' ? node.text : '';
  findings.push({
    code: wrong.code,
    message: `${label} ${wrong.says}`,
    path,
    at: node.at,
    hint: wrong.hint,
  });
  return '';
}

interface WrongText {
  readonly code: string;
  readonly says: string;
  readonly hint: string;
}

export const NOT_TEXT: WrongText = {
  code: 'handoff/wrong-type',
  says: 'must be text',
  hint: 'Write it as a string, in quotes.',
};

/** The first character of the text that no XML document can contain. */
export function findIllegal(text: string): WrongText | undefined {
  const character = findUnwritable(text);
  if (character === undefined) return undefined;
  const says = `contains ${character}, which XML cannot carry`;
  return { code: 'handoff/illegal-character', says, hint: 'Remove it, or write down what it stands for.' };
}

function refuse(code: string, { path, at }: FieldLocation, says: string, hint: string): Finding {
  return { code, message: `Element ${path} ${says}`, path, at, hint };
}
