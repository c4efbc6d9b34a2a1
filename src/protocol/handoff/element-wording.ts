import { type FieldLocation, type Finding, isFieldOfItem, type Wording } from '../shape/finding.ts';
import { didYouMean, quote } from '../shape/problem.ts';
import {
  type CountElement,
  type Element,
  type Fielded,
  type GroupElement,
  itemShapeOf,
  type ListElement,
  type ListShape,
  type NumberShape,
  type Shape,
} from '../shape/shape.ts';
import { TEXT_FORMATS } from '../text/text-format.ts';
import { checkData, findIllegal, NOT_TEXT } from './check-values.ts';

const SCHEMA_HINT = 'See `baton schema handoff`.';

export const ELEMENT_WORDING: Wording = {
  reportsUnknownFirst: (shape) => !isItem(shape),
  mayBeEmpty: (shape) => shape.may_be_empty === true,
  notAnObject: (shape, spot) => {
    const fields = isItem(shape) ? Object.keys(shape.elements).join(', ') : 'one field per element';
    if (spot.path !== '') return refuse(spot, 'handoff/wrong-type', `must be an object with ${fields}`, SCHEMA_HINT);
    const hint = `Send XML text, or an object. ${SCHEMA_HINT}`;
    return finding(spot, 'handoff/wrong-type', `Handoff must be an object with ${fields}`, hint);
  },
  notAList: (shape, spot) =>
    refuse(spot, 'handoff/wrong-type', 'must be a list', `Write one <${itemNameOf(shape)}> for each.`),
  notText: (_shape, _node, spot) => notText(spot),
  notANumber: (shape, value, spot) => notACount(shape, value, spot),
  notAFlag: (_shape, _node, spot) =>
    refuse(spot, 'handoff/not-a-flag', 'must be true or false', 'Write true or false.'),
  notAChoice: ({ values }, node, spot) => {
    if (node.kind !== 'text') return notText(spot);
    const isSingle = values.length === 1;
    const says = `must be ${isSingle ? '' : 'one of '}${values.join(', ')}: got '${quote(node.text)}'`;
    const hint = didYouMean(node.text, values) ?? `Write ${isSingle ? values[0] : 'one of them'}.`;
    return refuse(spot, 'handoff/invalid-choice', says, hint);
  },
  unwritable: (text, spot) => {
    const wrong = findIllegal(text);
    return wrong && refuse(spot, wrong.code, wrong.says, wrong.hint);
  },
  empty: (spot) => refuse(spot, 'handoff/empty', 'must not be empty', 'Write a few words.'),
  misfit: ({ format }, text, spot) => {
    const { expected, example } = format === undefined ? {} : TEXT_FORMATS[format];
    const says = `must be ${expected}: got '${quote(text)}'`;
    return refuse(spot, `handoff/invalid-${format}`, says, `For example ${example}.`);
  },
  tooFew: (shape, spot) => {
    const item = itemNameOf(shape);
    return refuse(spot, 'handoff/too-few', `must have at least ${shape.min} ${item}`, `Add <${item}>…</${item}>.`);
  },
  missing: (field, spot, owner) => {
    const isText = spot.field === 'text';
    if (!isItem(owner)) {
      const hint = `Add ${exampleOf(spot.field, field)}.`;
      return finding(spot, 'handoff/missing-element', `Missing required element: ${spot.path}`, hint);
    }
    const what = isText ? `text of ${spot.item}` : `attribute: ${spot.field} of ${spot.item}`;
    const hint = `Write it as ${exampleOf(owner.item, owner)}.`;
    const code = isText ? 'handoff/missing-text' : 'handoff/missing-attribute';
    return finding(spot, code, `Missing required ${what}`, hint);
  },
  unknown: (spot, known) => {
    const name = quote(spot.field);
    const path = spot.path.slice(0, spot.path.length - spot.field.length) + name;
    if (!isFieldOfItem(spot)) {
      const hint =
        didYouMean(spot.field, known) ?? `Remove it, or put it into data. Allowed here: ${known.join(', ')}.`;
      return finding({ ...spot, path }, 'handoff/unknown-element', `Unknown element: ${path}`, hint);
    }
    const attributes = known.filter((each) => each !== 'text');
    const hint = didYouMean(spot.field, attributes) ?? `Allowed here: ${attributes.join(', ')}.`;
    return finding({ ...spot, path }, 'handoff/unknown-attribute', `Unknown attribute: ${name} of ${spot.item}`, hint);
  },
  countTooLow: ({ list, attribute, value }, given, listed, spot) => {
    const says = `is ${given}, but ${list} lists ${listed} with ${attribute} ${value}`;
    return refuse(spot, 'handoff/count-too-low', says, `Count again: at least ${listed}. Or leave ${spot.field} out.`);
  },
  free: checkData,
};

function notText(spot: FieldLocation): Finding {
  return refuse(spot, NOT_TEXT.code, NOT_TEXT.says, NOT_TEXT.hint);
}

function notACount(shape: NumberShape | CountElement, value: number, spot: FieldLocation): Finding {
  const { min = 0, max } = shape;
  const why = 'because' in shape && shape.because !== undefined ? ` Here ${shape.because}.` : '';
  if (!Number.isSafeInteger(value) || value < 0) {
    const hint = `Write it in plain digits, such as 12.${why}`;
    return refuse(spot, 'handoff/invalid-count', 'must be a whole number ≥ 0', hint);
  }
  const bounds = max === undefined ? `at least ${min}` : min === max || max === 0 ? `${max}` : `from ${min} to ${max}`;
  return refuse(spot, 'handoff/count-out-of-range', `must be ${bounds}: got ${value}`, `Correct it.${why}`);
}

/** Renders a sentence that begins with the name of the spot: `Element branch`, `Attribute sha of commits[0]`. */
function refuse(spot: FieldLocation, code: string, says: string, hint: string): Finding {
  const isAttribute = isFieldOfItem(spot) && spot.field !== 'text';
  const label = isAttribute
    ? `Attribute ${spot.field} of ${spot.item}`
    : `Element ${isFieldOfItem(spot) ? spot.item : spot.path}`;
  return finding(spot, code, `${label} ${says}`, hint);
}

function finding({ path, at }: FieldLocation, code: string, message: string, hint: string): Finding {
  return { code, message, path, at, hint };
}

function isItem(shape: Fielded): shape is GroupElement & { readonly item: string } {
  return shape.kind === 'group' && shape.item !== undefined;
}

function itemNameOf(shape: ListShape | ListElement): string {
  return 'item' in shape ? shape.item : 'item';
}

function exampleOf(name: string, shape: Shape | Element): string {
  if (shape.kind !== 'group' || shape.item === undefined) return `<${name}>${contentOf(shape)}</${name}>`;
  const { text: _, ...attributes } = shape.elements;
  const written = Object.entries(attributes).map(([key, scalar]) => ` ${key}="${contentOf(scalar)}"`);
  return `<${name}${written.join('')}>…</${name}>`;
}

function contentOf(shape: Shape | Element): string {
  switch (shape.kind) {
    case 'text':
      return (shape.format && TEXT_FORMATS[shape.format].example) ?? '…';
    case 'choice':
      return shape.values[0] ?? '…';
    case 'count':
      return String(shape.min ?? 0);
    case 'flag':
      return 'true';
    case 'list':
      return exampleOf(itemNameOf(shape), itemShapeOf(shape));
    case 'group':
      return Object.entries(shape.elements)
        .map(([name, inner]) => exampleOf(name, inner))
        .join('');
    default:
      return '…';
  }
}
