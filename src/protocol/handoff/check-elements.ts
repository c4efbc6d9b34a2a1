import { didYouMean, quote } from '../shape/problem.ts';
import { checkData, checkScalar, type ElementFindings } from './check-values.ts';
import { type CountElement, type Element, type Elements, exampleOf, type ListElement } from './element.ts';
import type { ElementValue } from './handoff.ts';

type Checked = Record<string, ElementValue>;

/** Checks an object with one field per element and gives back a clean copy. Null counts as missing. */
export function checkElements(value: unknown, elements: Elements, path: string, findings: ElementFindings): Checked {
  if (!isObject(value)) {
    findings.add(mustBe(path, 'an object with one field per element', exampleHint(path)));
    return {};
  }
  refuseUnknown(value, elements, path, findings);
  const checked: [string, ElementValue][] = [];
  for (const [name, element] of Object.entries(elements)) {
    const field = Object.hasOwn(value, name) ? value[name] : undefined;
    const fieldPath = path === '' ? name : `${path}.${name}`;
    if (field === undefined || field === null) {
      if (element.optional !== true) findings.add(missing(name, fieldPath, element));
      continue;
    }
    const result = checkElement(field, element, fieldPath, findings);
    if (result !== undefined) checked.push([name, result]);
  }
  const clean = Object.fromEntries(checked);
  checkCounts(clean, elements, path, findings);
  return clean;
}

function checkElement(
  value: unknown,
  element: Element,
  path: string,
  findings: ElementFindings,
): ElementValue | undefined {
  switch (element.kind) {
    case 'group':
      return checkElements(value, element.elements, path, findings);
    case 'list':
      return checkList(value, element, path, findings);
    case 'free':
      return checkData(value, path, findings);
    case 'text':
    case 'choice':
    case 'count':
    case 'flag':
      return checkScalar(value, element, { path, label: `Element ${path}` }, findings);
  }
}

function checkList(value: unknown, list: ListElement, path: string, findings: ElementFindings): ElementValue {
  if (!Array.isArray(value)) {
    findings.add(mustBe(path, 'a list', `Write one <${list.item}> for each.`));
    return [];
  }
  const min = list.min ?? 0;
  if (value.length < min) {
    findings.add({
      code: 'handoff/too-few',
      message: `Element ${path} must have at least ${min} ${list.item}`,
      path,
      hint: `Add <${list.item}>…</${list.item}>.`,
    });
  }
  const items: ElementValue[] = [];
  for (let i = 0; i < value.length && findings.spend(4); i++) {
    const item = checkItem(value[i], list, `${path}[${i}]`, findings);
    if (item !== undefined) items.push(item);
  }
  return items;
}

function checkItem(
  value: unknown,
  list: ListElement,
  path: string,
  findings: ElementFindings,
): ElementValue | undefined {
  const text = { kind: 'text' } as const;
  if (!list.attributes) return checkScalar(value, text, { path, label: `Element ${path}` }, findings);
  if (!isObject(value)) {
    findings.add(mustBe(path, `an object with ${[...Object.keys(list.attributes), 'text'].join(', ')}`));
    return undefined;
  }
  const item: [string, ElementValue][] = [];
  for (const [name, scalar] of Object.entries({ ...list.attributes, text })) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    const fieldPath = `${path}.${name}`;
    const isText = name === 'text';
    const label = isText ? `Element ${path}` : `Attribute ${name} of ${path}`;
    if (given === undefined || given === null) {
      if ('optional' in scalar && scalar.optional === true) continue;
      findings.add({
        code: isText ? 'handoff/missing-text' : 'handoff/missing-attribute',
        message: isText ? `Missing required text of ${path}` : `Missing required attribute: ${name} of ${path}`,
        path: fieldPath,
        hint: `Write it as ${exampleOf(list.item, { kind: 'text' }, list.attributes)}.`,
      });
      continue;
    }
    const result = checkScalar(given, scalar, { path: fieldPath, label }, findings);
    if (result !== undefined) item.push([name, result]);
  }
  refuseUnknownAttributes(value, list, path, findings);
  return Object.fromEntries(item);
}

/** A count that says less than the list beside it shows is a slip that would hide a finding. */
function checkCounts(checked: Checked, elements: Elements, path: string, findings: ElementFindings): void {
  for (const [name, element] of Object.entries(elements)) {
    const given = checked[name];
    if (element.kind !== 'count' || !element.counts || typeof given !== 'number') continue;
    const listed = countListed(checked, element.counts);
    if (given >= listed) continue;
    const fieldPath = path === '' ? name : `${path}.${name}`;
    findings.add({
      code: 'handoff/count-too-low',
      message: `Element ${fieldPath} is ${given}, but ${element.counts.list} lists ${listed} with ${element.counts.attribute} ${element.counts.value}`,
      path: fieldPath,
      hint: `Count again: at least ${listed}. Or leave ${name} out.`,
    });
  }
}

function countListed(checked: Checked, { list, attribute, value }: NonNullable<CountElement['counts']>): number {
  const items: unknown = checked[list];
  if (!Array.isArray(items)) return 0;
  return items.filter((item: unknown) => isObject(item) && item[attribute] === value).length;
}

function refuseUnknown(value: object, elements: Elements, path: string, findings: ElementFindings): void {
  const known = Object.keys(elements);
  for (const name of Object.keys(value)) {
    if (!findings.spend(name.length) || findings.isFull) return;
    if (Object.hasOwn(elements, name)) continue;
    const fieldPath = path === '' ? quote(name) : `${path}.${quote(name)}`;
    findings.add({
      code: 'handoff/unknown-element',
      message: `Unknown element: ${fieldPath}`,
      path: fieldPath,
      hint: didYouMean(name, known) ?? `Remove it, or put it into data. Allowed here: ${known.join(', ')}.`,
    });
  }
}

function refuseUnknownAttributes(value: object, list: ListElement, path: string, findings: ElementFindings): void {
  const known = Object.keys(list.attributes ?? {});
  for (const name of Object.keys(value)) {
    if (!findings.spend(name.length) || findings.isFull) return;
    if (name === 'text' || known.includes(name)) continue;
    findings.add({
      code: 'handoff/unknown-attribute',
      message: `Unknown attribute: ${quote(name)} of ${path}`,
      path: `${path}.${quote(name)}`,
      hint: didYouMean(name, known) ?? `Allowed here: ${known.join(', ')}.`,
    });
  }
}

function missing(name: string, path: string, element: Element) {
  return {
    code: 'handoff/missing-element',
    message: `Missing required element: ${path}`,
    path,
    hint: `Add ${exampleOf(name, element)}.`,
  };
}

function mustBe(path: string, what: string, hint = 'See `baton schema handoff`.') {
  return {
    code: 'handoff/wrong-type',
    message: path === '' ? `Handoff must be ${what}` : `Element ${path} must be ${what}`,
    path,
    hint,
  };
}

function exampleHint(path: string): string {
  return path === '' ? 'Send XML text, or an object. See `baton schema handoff`.' : 'See `baton schema handoff`.';
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
