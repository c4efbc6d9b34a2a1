import { Document, visit } from 'yaml';

/** YAML that every reader takes for the same thing: whatever could be read as something else than text is quoted. */
export function renderYaml(value: object): string {
  const document = new Document(value, { version: '1.1', aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === 'string' && needsQuotes(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  const text = document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER });
  return text.replace(STILL_UNPRINTABLE, escape);
}

function needsQuotes(text: string): boolean {
  return [UNPRINTABLE, BLANK_START, OCTAL].some((pattern) => pattern.test(text));
}

/** Text to YAML 1.1, which the library writes for, and a number to YAML 1.2: the only word of that kind. */
const OCTAL = /^0o[0-7]+$/;

/** The first line of a block sets its indentation, and where it is blank the library loses its spaces. */
const BLANK_START = /^\s/;

/**
 * What YAML forbids in a text, or takes for a line break, or drops: it survives only in double quotes, as an escape. The
 * library writes the first few as escapes there by itself.
 */
const UNPRINTABLE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/; // oxlint-disable-line no-control-regex
const STILL_UNPRINTABLE = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g; // oxlint-disable-line no-control-regex

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
